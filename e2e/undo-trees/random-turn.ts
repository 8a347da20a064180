/** Numbers from 0 to below 1. */
export type Random = () => number;

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

const FOLDERS = ['.', 'src', 'src/deep', 'src/deep/er', 'docs', "a b'c", 'cache'];
const NAMES = ['one', 'two', 'three.txt', 'four.ts', '.five', 'ü', 'six.log', "it's"];

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A path; some of them are ignored by Git. */
const place = (random: Random): string => `${pick(random, FOLDERS)}/${pick(random, NAMES)}`;

/** One random change, as a shell command that may also fail. */
function randomChange(random: Random): string {
  const [at, to] = [place(random), place(random)].map(quoted);
  const folder = quoted(pick(random, FOLDERS.slice(1)));
  // No file takes the place of the ignored folder: its contents would be in the way of an undo, which does not touch them.
  const replaced = quoted(pick(random, FOLDERS.slice(1, -1)));
  const kinds = [
    `mkdir -p "$(dirname ${at})" && printf '%s' '${random()}' > ${at}`,
    `mkdir -p "$(dirname ${at})" && head -c ${Math.floor(random() * 200_000)} /dev/urandom > ${at}`,
    `printf '%s\\n' '${random()}' >> ${at}`,
    `rm -f ${at}`,
    `rm -rf ${folder}`,
    `mkdir -p "$(dirname ${to})" && mv ${at} ${to}`,
    `chmod ${pick(random, ['755', '644', '600', '700'])} ${at}`,
    `mkdir -p "$(dirname ${at})" && ln -sfn ${pick(random, ['../elsewhere', 'one', '/etc/hostname'])} ${at}`,
    `rm -rf ${replaced} && printf x > ${replaced}`,
  ];
  return `{ ${pick(random, kinds)}; } 2>/dev/null`;
}

/** A command with some changes, and pauses in which a kill finds it at work. */
export function randomCommand(random: Random): string {
  const changes = Array.from({ length: 1 + Math.floor(random() * 12) }, () => randomChange(random));
  return `${changes.join('; sleep 0.01; ')}; true`;
}

/** The same numbers for the same seed (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
