import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../../../testing/temp-store.ts';
import { readSkillFolder } from './skill-folder.ts';

const TEXT = '---\nname: tidy\ndescription: Tidies up.\n---\nDo it.\n';

function openFolder() {
  const dir = tempDir();
  const folder = path.join(dir.path, 'tidy');
  mkdirSync(path.join(folder, 'assets'), { recursive: true });
  writeFileSync(path.join(folder, 'SKILL.md'), TEXT);
  return { folder, at: (name: string) => path.join(folder, name), [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

test('texts of a skill are read; what is no text is left out, and links and pipes are passed over', async () => {
  using place = openFolder();
  writeFileSync(place.at('assets/a.txt'), 'é\n');
  writeFileSync(place.at('assets/b.png'), Buffer.from([0x89, 0x50, 0xff, 0]));
  symlinkSync('/etc/passwd', place.at('assets/c.txt'));
  execFileSync('mkfifo', [place.at('assets/d.txt')]);
  assert.deepEqual(await readSkillFolder(place.folder), {
    fields: { name: 'tidy', description: 'Tidies up.', content: 'Do it.' },
    files: [{ path: 'assets/a.txt', content: 'é\n' }],
    left: ['assets/b.png'],
  });
});

test('a file that is too large to be stored is refused before anything is stored', async () => {
  using place = openFolder();
  writeFileSync(place.at('assets/a.txt'), 'x'.repeat(256 * 1024 + 1));
  await assert.rejects(readSkillFolder(place.folder), {
    message: 'assets/a.txt cannot be read, or has more than 256 KiB',
  });
});

for (const [name, make] of [
  ['a pipe', (file: string) => execFileSync('mkfifo', [file])],
  ['a link to a device', (file: string) => symlinkSync('/dev/zero', file)],
  ['too large', (file: string) => writeFileSync(file, TEXT + 'x'.repeat(256 * 1024))],
] as const)
  test(`a SKILL.md that is ${name} is not read`, async () => {
    using place = openFolder();
    const folder = place.at('inner');
    mkdirSync(folder);
    make(path.join(folder, 'SKILL.md'));
    await assert.rejects(readSkillFolder(folder), {
      message: /has no SKILL\.md that can be read, of at most 256 KiB$/,
    });
  });
