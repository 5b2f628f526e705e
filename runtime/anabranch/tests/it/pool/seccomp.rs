//! Makes a system call fail from now on, like a sandbox that a program enters after its start.

/// Makes `call` fail with `error` in all threads of this process, also those that are yet to start; with `command`,
/// only where its first argument is that. Programs without privileges may do this.
pub fn refuse(call: libc::c_long, command: Option<u32>, error: libc::c_int) {
    const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    // Offsets in `seccomp_data`: the number of the call, and the low half of its first argument.
    let (number, argument) = (0, if cfg!(target_endian = "little") { 16 } else { 20 });
    let step = |code, k, jt, jf| libc::sock_filter { code: code as u16, jt, jf, k };
    let (load, has_command) = match command {
        Some(command) => (step(LOAD, argument, 0, 0), step(EQUAL, command, 0, 1)),
        None => (step(LOAD, number, 0, 0), step(EQUAL, call as u32, 0, 1)),
    };
    let mut filter = [
        step(LOAD, number, 0, 0),
        step(EQUAL, call as u32, 0, 3),
        load,
        has_command,
        step(RETURN, libc::SECCOMP_RET_ERRNO | error as u32, 0, 0),
        step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: `program` is a filter, and valid to be read.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let result = libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_TSYNC,
            &raw const program,
        );
        assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    }
}
