# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((8, 4, 1, 1), dtype="float32"), d: R.Tensor((8, 1, 3, 3), dtype="float32"), v: R.Tensor((10, 8), dtype="float32")) -> R.Tensor((1, 10), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((1, 8, 8, 8), dtype="float32") = R.nn.conv2d(x, w, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype="void")
            lv1: R.Tensor((1, 8, 8, 8), dtype="float32") = R.clip(lv, R.prim_value(0), R.prim_value(6))
            lv2: R.Tensor((1, 8, 8, 8), dtype="float32") = R.nn.conv2d(lv1, d, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=8, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype="void")
            lv3: R.Tensor((1, 8, 8, 8), dtype="float32") = R.tan(lv2)
            lv4: R.Tensor((1, 8), dtype="float32") = R.mean(lv3, axis=[2, 3], keepdims=False)
            lv5: R.Tensor((8, 10), dtype="float32") = R.permute_dims(v, axes=None)
            lv6: R.Tensor((1, 10), dtype="float32") = R.matmul(lv4, lv5, out_dtype="void")
            gv: R.Tensor((1, 10), dtype="float32") = R.nn.softmax(lv6, axis=-1)
            R.output(gv)
        return gv
