import assert from 'node:assert/strict';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { tempDir } from '../../testing/temp-store.ts';
import { createFolderSkills } from '../skills/folder-skills.ts';
import { createSurroundings } from './surroundings.ts';

test('runs of one turn of the event loop share a look at their folder; later ones look again', async () => {
  using dir = tempDir();
  const root = await realpath(dir.path);
  const [home, shop, other] = ['home', 'shop', 'other'].map((name) => path.join(root, name));
  assert.ok(home && shop && other);
  for (const folder of [home, shop, other]) await mkdir(folder);
  const write = (text: string) => writeFile(path.join(shop, 'AGENTS.md'), text);
  const trusted = () => [shop];
  const surroundings = createSurroundings({
    folders: { home, trusted },
    skills: createFolderSkills({ home, trusted }),
    hostTimeZone: 'UTC',
    clock: fakeClock(),
  });
  await write('one');
  const [first, same, agreed, elsewhere] = await Promise.all([
    surroundings.look(shop, []),
    surroundings.look(shop, []),
    surroundings.look(shop, [other]),
    surroundings.look(other, []),
  ]);
  assert.equal(first, same);
  assert.notEqual(first, agreed);
  assert.deepEqual(elsewhere.instructions.files, []);
  await write('two');
  const texts = [first, agreed, await surroundings.look(shop, [])].map(
    ({ instructions }) => instructions.files[0]?.text,
  );
  assert.deepEqual(texts, ['one', 'one', 'two']);
});
