import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCommand } from '../read-command.ts';

/** Bash skips the rest of the line after these. */
const ENDING_LINES = [
  'echo $((1/0))',
  'readonly x=1; x=2',
  `a=abc; echo \${a:1:-9}`,
  'UID=3',
  'a[-5]=1',
  'a[]=1',
  `echo \${a[]}`,
  `echo \${#a[]}`,
  `case "\${a[]}" in x) ;; esac`,
  `echo \${a[]:=x}`,
  `echo \${a[@]:=x}`,
  `echo \${1:=x}`,
  `echo \${1=x}`,
  `echo \${@:=x}`,
  `echo \${*=x}`,
  `echo \${}`,
  `echo \${a-\${}}`,
  "declare -A m; m['']=1",
];

/** Where the last command runs; undefined: unknown. */
const folderOf = (command: string): string | undefined =>
  readCommand(command, { folder: '/work', home: '/home/me' }).commands.at(-1)?.folder;

test('after what may end a line, a later line runs in an unknown folder', () => {
  assert.deepEqual(
    ENDING_LINES.filter((each) => folderOf(`cd /srv/x || exit; ${each}; cd /work || exit\ncat a.txt`) !== undefined),
    [],
  );
});

test('expansions that never fail leave the folder known', () => {
  const command = `cd src || exit\necho "\${f}" \${#f} "\${@}" "\${a[@]}" $1\ncat a.ts`;
  assert.equal(folderOf(command), '/work/src');
});
