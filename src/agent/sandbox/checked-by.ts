import { type InnerMount, OPENER_PATH } from './bubblewrap-arguments.ts';

/**
 * Checks inside the sandbox, before the command, that it is in the held folder. Renaming the folder outside removes the
 * mount from its path, and another folder may lie there then. Also checks that each protected path is mounted at its place,
 * and is what was held: bubblewrap finds both by their names, and another command may have exchanged a folder on the way for
 * a link. Then it opens the way to the network, and closes the descriptors, because they lead out of the sandbox;
 * bubblewrap closes its own.
 */
export function checkedBy(bash: string, { workdirFd, fds, mounts, opener }: CheckOptions): string[] {
  const close = (fd: number) => `exec ${fd}<&-; `;
  const failing = (text: string) => `{ echo "${text}; nothing was run."; exit 125; }; `;
  // The arguments of the opener come before those of the command.
  const open = opener
    ? `${OPENER_PATH} "\${@:1:${opener.args.length}}" 2>/dev/null || ${failing('The way to the network could not be opened')}` +
      `${close(opener.channel)}unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE; shift ${opener.args.length}; `
    : '';
  const places = mounts.flatMap(({ at, fd }) => [at, String(fd)]);
  const checkMounts =
    mounts.length === 0
      ? ''
      : `${READ_MOUNTS}for ((i = ${mounts.length}; i > 0; i--)); do [[ $m == *$'\\1'"$1"$'\\1'* && $1 -ef /proc/self/fd/$2 ]] || ` +
        `${failing('A protected path was exchanged while the command was being started')}shift 2; done; unset i m p; `;
  return [
    ...[bash, '--noprofile', '--norc', '-c'],
    `[ . -ef /proc/self/fd/${workdirFd} ] || ${failing('The working directory was replaced by another folder')}` +
      `${checkMounts}${fds.map(close).join('')}${open}exec "$@"`,
    'headgate',
    ...places,
    ...(opener?.args ?? []),
  ];
}

/** The places of all mounts, each between two characters; the system writes some characters as octal numbers. */
const READ_MOUNTS = `m=$'\\1'; while read -r _ _ _ _ p _; do printf -v p %b "\${p//\\\\/\\\\0}"; m+=$p$'\\1'; done < /proc/self/mountinfo; `;

interface CheckOptions {
  /** Of the held folder that is the working directory. */
  workdirFd: number;
  /** Closed before the command. */
  fds: readonly number[];
  mounts: readonly InnerMount[];
  /** What opens the way to the network, and the channel over which it sends it. */
  opener: { channel: number; args: readonly string[] } | undefined;
}
