import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { validate } from 'skills-ref';
import { tempDir } from '../../testing/temp-store.ts';
import { hundredFolders } from './skill-folders-fixture.ts';
import { validateSkill } from './validate-skill.ts';

test('a hundred folders get the verdict and the words of the reference validator', async () => {
  using dir = tempDir();
  assert.equal(hundredFolders.length, 100);
  const verdicts = { valid: 0, invalid: 0 };
  for (const [index, { folder, text }] of hundredFolders.entries()) {
    const place = path.join(dir.path, String(index), folder);
    mkdirSync(place, { recursive: true });
    writeFileSync(path.join(place, 'SKILL.md'), text);
    const expected = await validate(place);
    const found = (await validateSkill(text, folder)).map((problem) => problem.text);
    assert.equal(
      found.length === 0,
      expected.length === 0,
      `${index}: ${folder}: ${JSON.stringify({ found, expected })}`,
    );
    if (!expected[0]?.startsWith('Invalid YAML'))
      assert.deepEqual(found, expected.map(withoutType), text.slice(0, 200));
    verdicts[expected.length === 0 ? 'valid' : 'invalid'] += 1;
  }
  assert.deepEqual(verdicts, { valid: 50, invalid: 50 });
});

/** The reference turns other errors into text with their class. */
const withoutType = (text: string): string => text.replace(/^TypeError: /, 'Invalid frontmatter: ');

test('front matter that grows without end by aliases is refused at once', async () => {
  const levels = Array.from({ length: 12 }, (_, n) => `l${n + 1}: &l${n + 1} [${Array(10).fill(`*l${n}`).join(', ')}]`);
  const bomb = `---\nname: bomb\ndescription: x\nl0: &l0 [a]\n${levels.join('\n')}\n---\ntext`;
  const [problem] = await validateSkill(bomb, 'bomb');
  assert.match(problem?.text ?? '', /more than 2000 values/);
  const itself = '---\nname: bomb\ndescription: &d [*d]\n---\ntext';
  assert.equal((await validateSkill(itself, 'bomb')).length, 1);
  const deep = `---\nname: deep\ndescription: ${'['.repeat(50_000)}\n---\ntext`;
  assert.equal((await validateSkill(deep, 'deep')).length, 1);
  const long = `---\nname: long\ndescription: x\n#${'x'.repeat(70_000)}\n---\ntext`;
  assert.match((await validateSkill(long, 'long'))[0]?.text ?? '', /more than 65536 characters/);
});
