# An application that writes what the layer writes: source "$CLI_TESTS/record/layer.bash", then
# ./app NAME [STATUS].
touch layer.so
export CLBIN_LAYER_LIBRARY=layer.so
echo 'kernel void scale(global float* a) { a[0] *= N; }' > one.cl
echo 'kernel void fill(global int* a) { a[0] = 1; }' > two.cl
cat > app << 'END'
#!/bin/bash
# One build and its launches, in the directory that oclcc names.
cd "$CLBIN_LAYER_RECORD" || exit 9
source=$OLDPWD/$1.cl
[ "$CLBIN_LAYER_RECORD_SOURCE" = 1 ] || source=none
case $1 in
one) words=("$source" one default -DN=2 scale cpu-a '') ;;
two) words=("$source" two default '' fill cpu-a '') ;;
esac
make_bundle recording "${words[@]}" "$1-default-$$-0.clbin"
case $1 in
one) printf 'one default scale 1 64 1 1\none default scale 2 0 0 0\n' > "launches-$$.log" ;;
two) printf 'two default fill 2 16 4 1\n' > "launches-$$.log" ;;
esac
[ "${2:-0}" -gt 128 ] && kill -$(($2 - 128)) $$
exit "${2:-0}"
END
chmod +x app
