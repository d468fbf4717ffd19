// The same as main.c in Go: go build main.go
package main

/*
#cgo pkg-config: libglowish-c
#include <glowish.h>
#include <stdlib.h>

void showProgress(void *context, char *step, double done);

// Functions of Go are no pointers in C.
static void watch(glowish_job *job) {
	glowish_job_on_progress(job, (glowish_progress_function)showProgress, NULL);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"
)

// check makes an error of the library one of Go's, and frees it.
func check(failure *C.glowish_error) error {
	if failure == nil {
		return nil
	}
	defer C.glowish_error_free(failure)
	return errors.New(C.GoString(C.glowish_error_message(failure)))
}

//export showProgress
func showProgress(_ unsafe.Pointer, step *C.char, done C.double) {
	fmt.Fprintf(os.Stderr, "%3.0f %% %s\n", 100*float64(done), C.GoString(step))
}

func printValue(what string, value *C.glowish_value) {
	fmt.Printf("%s %s:", what, C.GoString(value.name))
	for _, extent := range unsafe.Slice((*int64)(unsafe.Pointer(value.extents)), value.rank) {
		fmt.Printf(" %d", extent)
	}
	fmt.Println()
}

func compile(path string) (*C.glowish_program, error) {
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	var model *C.glowish_model
	if err := check(C.glowish_model_open(text, &model)); err != nil {
		return nil, err
	}
	defer C.glowish_model_free(model)
	options := C.glowish_options_create()
	defer C.glowish_options_free(options)
	name, value, symbol := C.CString("threads"), C.CString("1"), C.CString("N")
	for _, each := range []*C.char{name, value, symbol} {
		defer C.free(unsafe.Pointer(each))
	}
	if err := check(C.glowish_options_set(options, name, value)); err != nil {
		return nil, err
	}
	if err := check(C.glowish_options_bind_dimension(options, symbol, 2)); err != nil {
		return nil, err
	}
	job := C.glowish_job_create()
	defer C.glowish_job_free(job)
	C.watch(job)
	var program *C.glowish_program
	return program, check(C.glowish_compile(model, options, job, &program))
}

func run(path string) error {
	program, err := compile(path)
	if err != nil {
		return err
	}
	defer C.glowish_program_free(program)
	printValue("input", C.glowish_program_input(program, 0))
	printValue("output", C.glowish_program_output(program, 0))

	var session *C.glowish_session
	if err := check(C.glowish_session_create(program, &session)); err != nil {
		return err
	}
	defer C.glowish_session_free(session)
	// The garbage collector may move what Go has: the session keeps a copy.
	x := []float32{0, 1, 2, 3, 2, 1}
	if err := check(C.glowish_session_set_input(session, 0, unsafe.Pointer(&x[0]), nil)); err != nil {
		return err
	}
	if err := check(C.glowish_session_run(session)); err != nil {
		return err
	}
	var data unsafe.Pointer
	if err := check(C.glowish_session_output(session, 0, &data, nil)); err != nil {
		return err
	}
	y := unsafe.Slice((*float32)(data), 4)
	fmt.Printf("%.4f %.4f\n%.4f %.4f\n", y[0], y[1], y[2], y[3])
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: main MODEL")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
