; A network's module whose only loop fails in the task that a worker takes: the one
; of the first thread waits for that.
target triple = "wasm32-unknown-unknown"

declare void @glowish_parallel_for(ptr, ptr, i64) #0

@hasBegun = internal global i32 0

define internal void @task(ptr %unused, i64 %begin, i64 %end) {
entry:
  %isFirst = icmp eq i64 %begin, 0
  br i1 %isFirst, label %wait, label %fail
wait:
  %value = load atomic i32, ptr @hasBegun seq_cst, align 4
  %isThere = icmp ne i32 %value, 0
  br i1 %isThere, label %done, label %wait
fail:
  store atomic i32 1, ptr @hasBegun seq_cst, align 4
  call void @llvm.trap()
  unreachable
done:
  store atomic i32 0, ptr @hasBegun seq_cst, align 4
  ret void
}

declare void @llvm.trap()

define i32 @run(ptr %weights, ptr %placeholders, ptr %activations) #1 {
  call void @glowish_parallel_for(ptr @task, ptr null, i64 2)
  ret i32 0
}

attributes #0 = { "wasm-import-module"="env" "wasm-import-name"="glowish_parallel_for" }
attributes #1 = { "wasm-export-name"="run" }
