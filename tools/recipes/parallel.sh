#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run on several machines by GNU parallel over ssh: a shard a job, their folders brought back and merged. Without HOSTS
# there are two "machines" of this one's own: an sshd on a high port of the loopback, with keys that are thrown away.
#   [HOSTS=a,b] tools/recipes/parallel.sh BUILD FOLDER [options of nnvts run...]    nnvts is at the same path everywhere
# Debian: apt-get install parallel openssh-client openssh-server rsync. Exit code 77: they are not here.
set -eu
recipes=$(cd "$(dirname "$0")" && pwd)
. "$recipes/lib.sh"
begin_recipe "$@"
for tool in parallel ssh rsync; do
    command -v $tool >/dev/null || skip_recipe "$tool is not here (Debian: apt-get install parallel openssh-client rsync)"
done

# An ssh to this machine, for the user who runs this.
start_sshd() {
    local dir=$folder/ssh port=$((20000 + $$ % 20000)) sshd
    sshd=$(command -v sshd || ls /usr/sbin/sshd 2>/dev/null) || skip_recipe "sshd is not here (Debian: apt-get install openssh-server)"
    rm -rf "$dir"
    (umask 077 && mkdir -p "$dir")
    ssh-keygen -q -t ed25519 -N '' -f "$dir/host"
    ssh-keygen -q -t ed25519 -N '' -f "$dir/user"
    cp "$dir/user.pub" "$dir/authorized"
    [ "$(id -u)" != 0 ] || mkdir -p /run/sshd
    cat >"$dir/sshd_config" <<END
Port $port
ListenAddress 127.0.0.1
HostKey $dir/host
AuthorizedKeysFile $dir/authorized
PidFile $dir/sshd.pid
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
END
    printf '[127.0.0.1]:%s %s\n[localhost]:%s %s\n' $port "$(cut -d' ' -f1,2 "$dir/host.pub")" $port "$(cut -d' ' -f1,2 "$dir/host.pub")" >"$dir/known"
    "$sshd" -D -f "$dir/sshd_config" -E "$dir/sshd.log" &
    at_end kill $!
    ssh=(ssh -F none -p $port -i "$dir/user" -o UserKnownHostsFile="$dir/known" -o StrictHostKeyChecking=yes -o BatchMode=yes)
    wait_for 10 "${ssh[@]}" 127.0.0.1 true 2>/dev/null || fail_recipe "no ssh to 127.0.0.1:$port; see $dir/sshd.log"
    hosts=127.0.0.1,localhost
}
ssh=(ssh)
hosts=${HOSTS:-}
[ -n "$hosts" ] || start_sshd

rm -rf "$folder"/shard-[0-9]* "$folder/merged"
export PARALLEL_SSH="${ssh[*]}" PARALLEL_HOME="$folder/parallel"
mkdir -p "$PARALLEL_HOME"
touch "$PARALLEL_HOME/will-cite"
# Each job runs in a folder of its own on its machine, which is removed when its results are here. Exit code 1 is a verdict.
(
    cd "$folder"
    seq "$SHARDS" | parallel --sshlogin "$hosts" --jobs 2 --workdir ... --return 'shard-{}' --cleanup --joblog "$folder/jobs" \
        "$nnvts run $(quoted "${options[@]}") --shard {}/$SHARDS --out shard-{}; [ \$? -le 1 ]"
) >"$folder/log" 2>&1 || fail_recipe "a job failed: $(tail -n 3 "$folder/log")"
grep -h '^nnvts .* shard ' "$folder/log"
"$nnvts" merge "$folder"/shard-[0-9]* --out "$folder/merged" || [ $? -le 1 ]
compare_recipe
