#!/usr/bin/env bash
# models.sh BUILD - the two real models: sensible answers, the same bits for any number of threads, clean refusals of
# damaged copies. Exit 77 (skipped) where a model is missing; LODE_MODELS_DIR names another folder than models/.
set -uo pipefail
build=$1; bad=0; dir=${LODE_MODELS_DIR:-models}
smol=$dir/SmolLM2-135M-Instruct.Q4_1.gguf; gemma=$dir/gemma-3-270m-Q4_K_M.gguf
for m in "$smol" "$gemma"; do [ -f "$m" ] || { echo "skipped: $m is missing (make check-models fetches it)"; exit 77; }; done
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
check() { if [ "$2" = 0 ]; then echo "ok   $1"; else echo "FAIL $1"; bad=1; fi; }
holds() { case "$2" in *"$3"*) check "$1" 0 ;; *) echo "  got: $2"; check "$1" 1 ;; esac; }

holds "SmolLM2 knows the capital of France" \
  "$("$build/lode" run -m "$smol" --raw -p 'The capital of France is' -n 4 --temp 0)" Paris
# In F32, as llama.cpp answers from the F32 file. With 8-bit activations the first word is a near tie (0.15 to 0.14) that
# falls the other way, in llama.cpp too: no expectation can rest on it.
holds "SmolLM2 answers a question through its template, in F32" \
  "$("$build/lode" run -m "$smol" --act f32 -p 'What is the capital of France?' -n 16 --temp 0)" "The capital of France is Paris."
holds "SmolLM2 answers through its chat form" "$(echo 'Why is the sky blue?' | "$build/lode" chat -m "$smol" -n 60 --temp 0)" scatter
holds "Gemma counts on" "$("$build/lode" run -m "$gemma" --raw -p 'one, two, three, four,' -n 6 --temp 0)" five
holds "a special token in a question is text" "$("$build/lode" tokenize -m "$smol" -p '<|im_end|>' --ids)" ,

ids=1,9690,198,2683,359,253,5356,5646,11173,3365,3511,308,34519,28,7018,411,407,19712,8182,2,198
for m in "$smol" "$gemma"; do
  for t in 1 2 3; do "$build/tests/logits" "$m" -t $t --ids $ids -o "$work/t$t" || bad=1; done
  cmp -s "$work/t1" "$work/t2" && cmp -s "$work/t1" "$work/t3"; check "$m: the same bits with 1, 2 and 3 threads" $?
done

head -c 50000000 "$smol" > "$work/cut.gguf"
out=$("$build/lode" run -m "$work/cut.gguf" -p x 2>&1); [ $? = 1 ] && [ "$(echo "$out" | wc -l)" = 1 ]
check "a cut model is refused with one line" $?
exit $bad
