import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { ProcessIdentity } from '../tools/tool.ts';
import { MARK_VARIABLE } from './process-mark.ts';
import type { Program } from './programs.ts';
import { hasStreams } from './with-streams.ts';

type Leader = ProcessIdentity & { mark: string };

/** Commands that end when this process does, also when it is killed. */
export interface Lifeline {
  /** Before it does anything. From now on the command ends with this process, until the hold is disposed of. */
  hold(leader: Leader): Disposable;
}

/** Without a hold in between, so that a broken bash is not started over and over. */
const MOST_STARTS = 4;

/**
 * One shell beside this process, for all commands outside the sandbox; in it, bubblewrap ends them. When the pipe to it
 * closes, the shell kills what it was told of: the process groups, and what left them with its mark. It starts with the
 * first command, has a session of its own, ignores signals, and is started again if it is killed.
 */
export function createLifeline(bash: Program): Lifeline {
  const held = new Set<Leader>();
  let input: Writable | undefined;
  let left = MOST_STARTS;
  const begin = (): void => {
    if (left === 0 || bash.kind !== 'found') return;
    left -= 1;
    // Not told through the pipe: this process may die between the start of the shell and the first line.
    const known = [...held].flatMap(({ mark, pid, startTicks }) => [mark, `${pid}`, `${startTicks}`]);
    const shell = spawn(bash.path, ['--noprofile', '--norc', '-c', SCRIPT, 'headgate-lifeline', ...known], {
      cwd: '/',
      env: { LC_ALL: 'C' },
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    if (!hasStreams(shell)) return; // the next command tries again
    const { stdin } = shell;
    input = stdin;
    stdin.on('error', () => undefined); // it was killed; `ended` reports that
    const ended = () => {
      if (input !== stdin) return;
      input = undefined;
      if (held.size > 0) begin();
    };
    shell.on('error', ended);
    shell.on('exit', ended);
    letExit(shell, stdin);
  };
  return {
    hold(leader) {
      left = MOST_STARTS;
      held.add(leader);
      if (input) tell(input, '+', leader);
      else begin();
      return {
        [Symbol.dispose]() {
          held.delete(leader);
          if (input) tell(input, '-', leader);
        },
      };
    },
  };
}

/** Node hands the line to the pipe before this returns, so the shell gets it even if this process dies right after. */
const tell = (input: Writable, sign: '+' | '-', { mark, pid, startTicks }: Leader): void =>
  void input.write(`${sign} ${mark} ${pid} ${startTicks}\n`);

/** This process may end while the shell runs. */
function letExit(shell: ChildProcess, stdin: Writable): void {
  shell.unref();
  if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
}

/**
 * Only words of bash itself, because nothing else is sure to be installed. A process group is not killed if its number
 * belongs to a later process by now: the 22nd field of its stat, the 20th after the name in parentheses, is its start. What
 * is found by its mark is looked for until nothing is left, because it may start further processes meanwhile. A process in
 * the middle of `exec` has a program but no environment, so those are looked at again for a while.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM USR1 USR2 ALRM PIPE TSTP TTIN TTOU
declare -A pids starts
for ((; $# > 0; )); do pids[$1]=$2 starts[$1]=$3; shift 3; done
while IFS=' ' read -r sign mark pid start; do
  if [ "$sign" = + ]; then pids[$mark]=$pid starts[$mark]=$start; else unset -v "pids[$mark]" "starts[$mark]"; fi
done
[ "\${#pids[@]}" -gt 0 ] || exit 0
for mark in "\${!pids[@]}"; do
  pid=\${pids[$mark]} stat=
  { IFS= read -r -d '' stat <"/proc/$pid/stat"; } 2>/dev/null
  set -- \${stat##*) }
  if [ -z "$stat" ] || [ "\${starts[$mark]}" = 0 ] || [ "\${20}" = "\${starts[$mark]}" ]; then kill -KILL -- "-$pid"; fi
done
quiet=0
for ((round = 0; round < 200; round++)); do
  found= hidden=
  for folder in /proc/[0-9]*; do
    [ -O "$folder" ] || continue
    seen=
    while IFS= read -r -d '' variable; do
      seen=1
      case $variable in ${MARK_VARIABLE}=?*)
        mark=\${variable#*=}
        if [ -n "\${pids[$mark]+set}" ]; then kill -KILL "\${folder#/proc/}" && found=1; fi
        break
      esac
    done <"$folder/environ"
    [ -n "$seen" ] || [ ! -e "$folder/exe" ] || hidden=1
  done 2>/dev/null
  [ -z "$found" ] || { quiet=0; continue; }
  [ -n "$hidden" ] && ((++quiet < 20)) || break
done
`;
