/** Commands whose effects are known, to be combined. */
const PARTS = [
  'rm -f x',
  'rm -rf build',
  'cat a.txt',
  'touch new.txt',
  'mkdir -p made/deep',
  'mv a.txt moved.txt',
  'cp b.txt copy.txt',
  'cp -r src copied',
  'ln -sf a.txt link',
  'sed -i s/foo/bar/ a.txt',
  'sed -n "w from-sed" a.txt',
  'sort -o sorted.txt a.txt',
  'tee teed.txt < a.txt',
  'echo hi > echoed.txt',
  'echo hi >> log.txt',
  'find build -name "*.o" -delete',
  'find . -name x -exec rm -f {} +',
  'tar czf packed.tgz src',
  'tar xzf in.tgz',
  'gzip -k b.txt',
  'truncate -s 0 log.txt',
  'chmod 600 a.txt',
  'dd if=a.txt of=dd.bin status=none',
  'split -l 1 a.txt part_',
  'awk \'{print > "from-awk"}\' a.txt',
  'head -n 1 a.txt',
  'grep -rn foo .',
  'wc -l a.txt',
  'uniq a.txt unique.txt',
  'install -m 644 a.txt installed.txt',
  'kill -s CONT 1',
  'cat < /dev/tcp/127.0.0.1/9',
  'unlink y',
  'rmdir empty',
  'mkfifo pipe',
  'ls -la',
  'cut -d, -f1 data.csv > cut.txt',
  'csplit -s a.txt 2',
  'paste a.txt b.txt',
  'stat a.txt',
];

type Random = () => number;

/** A random number generator with a seed. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

const pick = <T>(random: Random, values: readonly [T, ...T[]]): T =>
  values[Math.floor(random() * values.length)] ?? values[0];

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const WRAPS: readonly [(command: string) => string, ...((command: string) => string)[]] = [
  (command) => `sh -c ${quote(command)}`,
  (command) => `bash -c ${quote(command)}`,
  (command) => `( ${command} )`,
  (command) => `{ ${command}; }`,
  (command) => `echo "$( ${command} )"`,
  (command) => `cat <( ${command} )`,
  (command) => `if ${command}; then true; fi`,
  (command) => `for i in 1 2; do ${command}; done`,
  (command) => `f() { ${command}; }; f`,
  (command) => `eval ${quote(command)}`,
  (command) => `bash <<'END'\n${command}\nEND\n`,
  (command) => `env LANG=C sh -c ${quote(command)}`,
  (command) => `timeout 5 sh -c ${quote(command)}`,
  (command) => `cd src && ${command}`,
  (command) => `cd src; ${command}`,
  (command) => `( cd lib && ${command} )`,
  (command) => `${command} 2> errors.txt`,
  (command) => `! ${command}`,
  (command) => `case x in x) ${command};; esac`,
  (command) => `trap ${quote(command)} EXIT`,
  (command) => `echo a.txt | xargs -I{} sh -c ${quote(command)}`,
  (command) => `find . -maxdepth 0 -exec sh -c ${quote(command)} \\;`,
  (command) => `while ${command}; do break; done`,
  (command) => `nice -n 1 sh -c ${quote(command)}`,
  (command) => `command ${command.startsWith('cat <') || command.includes('\n') ? `sh -c ${quote(command)}` : command}`,
];

const JOINS = [' && ', ' || ', '; ', ' | ', ' & ', '\n'] as const;

/** A random command of known parts, and the programs of these parts. */
export function composeCommand(random: Random, depth = 2): { command: string; programs: string[] } {
  if (depth === 0) {
    const command = pick(random, PARTS as readonly string[] as readonly [string, ...string[]]);
    return { command, programs: [command.split(' ')[0] ?? ''] };
  }
  const left = composeCommand(random, depth - 1);
  if (random() < 0.6) return { ...left, command: pick(random, WRAPS)(left.command) };
  const right = composeCommand(random, depth - 1);
  // What follows a here-document must be on the next line.
  const join = left.command.endsWith('\n') ? '' : pick(random, JOINS);
  return { command: `${left.command}${join}${right.command}`, programs: [...left.programs, ...right.programs] };
}
