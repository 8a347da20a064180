import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nextSpoken } from './spoken.ts';

/** What is spoken of a text that grows by one character at a time, and then ends. */
function speak(markdown: string): string[] {
  const said: string[] = [];
  let upTo = 0;
  const look = (length: number, ended: boolean) => {
    const next = nextSpoken(markdown.slice(0, length), upTo, ended);
    upTo = next.upTo;
    if (next.text !== '') said.push(next.text);
  };
  for (let length = 1; length <= markdown.length; length += 1) look(length, false);
  look(markdown.length, true);
  return said;
}

test('sentences are spoken once finished, the last one when the answer ends', () => {
  assert.deepEqual(speak('One is here. Two costs 3.5 euros! And **three**'), [
    'One is here.',
    'Two costs 3.5 euros!',
    'And three',
  ]);
});

test('formatting marks are not read aloud', () => {
  const markdown =
    '## A title\n\n- [x] first `thing`\n- second [link](https://a.example)\n\n> **Bold one. Bold two** here.\n';
  assert.deepEqual(speak(markdown), ['A title', 'Done: first thing', 'second link', 'Bold one.', 'Bold two here.']);
});

test('a finished code block is announced by its length', () => {
  assert.deepEqual(speak('Look. \n```ts\nconst a = 1;\n// Why. Because.\n```\nThat was it.'), [
    'Look.',
    'Code in ts, 2 lines.',
    'That was it.',
  ]);
  assert.deepEqual(speak('````md\n```\ninner\n```\n````\n'), ['Code in md, 3 lines.']);
  assert.deepEqual(speak('```\ncut off. here'), ['Code, 1 line.']);
});

test('a table is read row by row', () => {
  assert.deepEqual(nextSpoken('| a | b |\n|---|---|\n| 1 | 2 |\n', 0, true).text, 'a, b 1, 2');
  assert.deepEqual(nextSpoken('| 3 | 4 |\n', 0, false).text, ', 3, 4'.slice(2));
});

test('no text is spoken twice or left out, however it arrives', () => {
  const piece = fc.constantFrom('word', ' ', '. ', '\n', '```\n', '**', '`', '- ', '| ', '...', '1) ', '# ');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      let upTo = 0;
      let text = '';
      for (const more of pieces) {
        text += more;
        const next = nextSpoken(text, upTo, false);
        assert.ok(next.upTo >= upTo && next.upTo <= text.length);
        upTo = next.upTo;
      }
      assert.equal(nextSpoken(text, upTo, true).upTo, text.length);
    }),
    { numRuns: 500 },
  );
});
