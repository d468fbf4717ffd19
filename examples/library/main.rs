// The same as main.c in Rust, without a crate: rustc main.rs -l glowish
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};

/// Handles are only pointed to.
type Handle = *mut c_void;

/// The first fields of glowish_value.
#[repr(C)]
struct Value {
    name: *const c_char,
    kind: c_int,
    rank: c_int,
    extents: *const i64,
    bytes: usize,
}

extern "C" {
    fn glowish_error_message(error: Handle) -> *const c_char;
    fn glowish_error_free(error: Handle);
    fn glowish_options_create() -> Handle;
    fn glowish_options_set(options: Handle, name: *const c_char, value: *const c_char) -> Handle;
    fn glowish_options_bind_dimension(options: Handle, symbol: *const c_char, value: i64) -> Handle;
    fn glowish_options_free(options: Handle);
    fn glowish_model_open(path: *const c_char, model: *mut Handle) -> Handle;
    fn glowish_model_free(model: Handle);
    fn glowish_job_create() -> Handle;
    fn glowish_job_on_progress(
        job: Handle,
        function: extern "C" fn(*mut c_void, *const c_char, f64),
        context: *mut c_void,
    );
    fn glowish_job_free(job: Handle);
    fn glowish_compile(model: Handle, options: Handle, job: Handle, program: *mut Handle)
        -> Handle;
    fn glowish_program_input(program: Handle, index: usize) -> *const Value;
    fn glowish_program_output(program: Handle, index: usize) -> *const Value;
    fn glowish_program_free(program: Handle);
    fn glowish_session_create(program: Handle, session: *mut Handle) -> Handle;
    fn glowish_session_bind_input(session: Handle, index: usize, data: *const c_void) -> Handle;
    fn glowish_session_bind_output(session: Handle, index: usize, data: *mut c_void) -> Handle;
    fn glowish_session_run(session: Handle) -> Handle;
    fn glowish_session_free(session: Handle);
}

/// An error as a result, and freed.
fn check(error: Handle) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    unsafe {
        let message = CStr::from_ptr(glowish_error_message(error));
        let result = message.to_string_lossy().into_owned();
        glowish_error_free(error);
        Err(result)
    }
}

extern "C" fn show_progress(_context: *mut c_void, step: *const c_char, done: f64) {
    let step = unsafe { CStr::from_ptr(step) }.to_string_lossy();
    eprintln!("{:3.0} % {}", 100.0 * done, step);
}

unsafe fn print_value(what: &str, value: *const Value) {
    let value = &*value;
    print!("{} {}:", what, CStr::from_ptr(value.name).to_string_lossy());
    for extent in std::slice::from_raw_parts(value.extents, value.rank as usize) {
        print!(" {}", extent);
    }
    println!();
}

unsafe fn run(path: &str) -> Result<(), String> {
    let text = |text: &str| CString::new(text).map_err(|error| error.to_string());
    let (mut model, mut program, mut session): (Handle, Handle, Handle) =
        (null_mut(), null_mut(), null_mut());
    check(glowish_model_open(text(path)?.as_ptr(), &mut model))?;
    let options = glowish_options_create();
    check(glowish_options_set(options, text("threads")?.as_ptr(), text("1")?.as_ptr()))?;
    check(glowish_options_bind_dimension(options, text("N")?.as_ptr(), 2))?;
    let job = glowish_job_create();
    glowish_job_on_progress(job, show_progress, null_mut());
    check(glowish_compile(model, options, job, &mut program))?;
    print_value("input", glowish_program_input(program, 0));
    print_value("output", glowish_program_output(program, 0));

    check(glowish_session_create(program, &mut session))?;
    let x: [f32; 6] = [0.0, 1.0, 2.0, 3.0, 2.0, 1.0];
    let mut y = [0f32; 4];
    check(glowish_session_bind_input(session, 0, x.as_ptr().cast()))?;
    check(glowish_session_bind_output(session, 0, y.as_mut_ptr().cast()))?;
    check(glowish_session_run(session))?;
    println!("{:.4} {:.4}\n{:.4} {:.4}", y[0], y[1], y[2], y[3]);
    // The session has pointers to x and y until it is gone.
    check(glowish_session_bind_input(session, 0, null()))?;
    glowish_session_free(session);
    glowish_program_free(program);
    glowish_job_free(job);
    glowish_options_free(options);
    glowish_model_free(model);
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 2 {
        eprintln!("usage: main MODEL");
        std::process::exit(2);
    }
    if let Err(message) = unsafe { run(&arguments[1]) } {
        eprintln!("error: {}", message);
        std::process::exit(1);
    }
}
