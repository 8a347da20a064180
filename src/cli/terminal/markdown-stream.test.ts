import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toMarkdownLines } from './markdown.ts';
import { createMarkdownStream, createPlainStream, type GrowingText } from './markdown-stream.ts';
import { createPaint } from './paint.ts';

const sheet = { paint: createPaint(false), columns: 60 };

const TEXT = `# A title

A paragraph with **bold** words
over two lines.

1. one
2. two with \`code\`
   - inner
3. three

\`\`\`js
const a = 1;

call(a);
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

> a quote

last words
`;

/** Feeds the text in pieces of these lengths, repeatedly. */
function feed(stream: GrowingText, text: string, lengths: readonly number[]): { finished: string[]; seen: string[][] } {
  const finished: string[] = [];
  const seen: string[][] = [];
  for (let at = 0, turn = 0; at < text.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    stream.push(text.slice(at, at + length));
    at += length;
    finished.push(...stream.takeFinished());
    seen.push([...finished, ...stream.openLines()]);
  }
  finished.push(...stream.end());
  return { finished, seen };
}

test('however a text is split, all of it is handed out exactly once', () => {
  const whole = toMarkdownLines(TEXT, sheet);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 }), (lengths) => {
      assert.deepEqual(
        feed(
          createMarkdownStream(() => sheet),
          TEXT,
          lengths,
        ).finished,
        whole,
      );
    }),
  );
});

test('long code and long lists are handed out while they grow', () => {
  const code = `\`\`\`\n${Array.from({ length: 50 }, (_, line) => `line ${line}\n`).join('')}`;
  const stream = createMarkdownStream(() => sheet);
  stream.push(code);
  assert.deepEqual([stream.takeFinished().length, stream.openLines()], [49, ['  line 49']]);
  stream.push('```\n');
  assert.deepEqual(stream.end(), ['  line 49']);
});

test('plain text is handed out line by line', () => {
  const { finished, seen } = feed(createPlainStream(), 'one\ntwo\n\nthree', [5]);
  assert.deepEqual(finished, ['one', 'two', '', 'three']);
  assert.deepEqual(seen[0], ['one', 't']);
});
