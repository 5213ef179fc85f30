#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run as an array job on Slurm: four tasks, a shard each, merged by a job that waits for them. Where there is a cluster
# (sinfo answers) it is used; else one is started on this machine (munge, controller, node; for that one must be root)
# and stopped at the end. At last the merged run is compared with the same run in one piece.
#   tools/recipes/slurm.sh BUILD FOLDER [options of nnvts run...]    FOLDER: shared by all nodes; results go there
# Debian: apt-get install slurm-wlm munge. Exit code 77: Slurm is not here, or one may not start it.
set -eu
recipes=$(cd "$(dirname "$0")" && pwd)
. "$recipes/lib.sh"
begin_recipe "$@"
command -v sbatch >/dev/null || skip_recipe "sbatch is not here (Debian: apt-get install slurm-wlm munge)"

# A cluster of one machine, with everything it writes below $folder/cluster.
start_cluster() {
    local tool dir=$folder/cluster host memory
    for tool in munged slurmctld slurmd; do
        command -v $tool >/dev/null || skip_recipe "$tool is not here (Debian: apt-get install slurm-wlm munge)"
    done
    [ "$(id -u)" = 0 ] || skip_recipe "no cluster answers, and only root may start one"
    host=$(hostname -s)
    memory=$(awk '/^MemTotal/ {print int($2 / 1024 / 2)}' /proc/meminfo)
    rm -rf "$dir"
    mkdir -p "$dir/state" "$dir/spool" "$dir/munge"
    chmod 755 "$dir/munge"
    (umask 077 && head -c 128 /dev/urandom >"$dir/munge/key")
    cat >"$dir/slurm.conf" <<END
ClusterName=nnvts
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$((20000 + $$ % 10000))
SlurmdPort=$((30000 + $$ % 10000))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$memory State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
    export SLURM_CONF=$dir/slurm.conf
    munged --force --foreground --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
        --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" >"$dir/munge/out" 2>&1 &
    at_end kill $!
    wait_for 10 test -S "$dir/munge/socket" || fail_recipe "munged does not start; see $dir/munge"
    slurmctld -D >"$dir/slurmctld.out" 2>&1 &
    at_end kill $!
    slurmd -D -N "$host" >"$dir/slurmd.out" 2>&1 &
    at_end kill $!
    wait_for 30 node_is_idle || fail_recipe "the node does not come up; see $dir/slurmctld.log and $dir/slurmd.log"
}
node_is_idle() { sinfo -h -o %T 2>/dev/null | grep -q '^idle$'; }

timeout 5 sinfo -h >/dev/null 2>&1 || start_cluster

# nnvts takes its shard from SLURM_ARRAY_TASK_ID and the bounds of the array; exit code 1 is a verdict, not a failed task.
cat >"$folder/shard.sbatch" <<END
#!/bin/bash
#SBATCH --job-name=nnvts --array=1-$SHARDS --output=$folder/log-%a
"$nnvts" run $(quoted "${options[@]}") --out "$folder/shard-\$SLURM_ARRAY_TASK_ID"
[ \$? -le 1 ]
END
cat >"$folder/merge.sbatch" <<END
#!/bin/bash
#SBATCH --job-name=nnvts-merge --output=$folder/log-merge
"$nnvts" merge "$folder"/shard-[0-9]* --out "$folder/merged"
[ \$? -le 1 ]
END
rm -rf "$folder"/shard-[0-9]* "$folder/merged"
job=$(sbatch --parsable "$folder/shard.sbatch")
sbatch --wait --dependency="afterok:${job%%;*}" "$folder/merge.sbatch" >/dev/null ||
    fail_recipe "the jobs failed; see $folder/log-*"
grep -h '^nnvts .* shard ' "$folder"/log-[0-9]* || true
compare_recipe
