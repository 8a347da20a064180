import type { ParamsInput } from '../../protocol/index.ts';

type File = ParamsInput<'workstream.import'>['conversation'];
type Message = File['messages'][number];

const SOURCE_OLD = 'return everyDays - passed;';
const SOURCE_NEW = 'return Math.max(0, everyDays - passed);';

const ANSWER = `An overdue plant gets **-2** where the test expects 0: nothing keeps the difference from going below zero.

## What I looked at

1. \`src/watering.js\`, which computes the days
2. \`src/watering.test.js\`, which has no plant that is overdue
   - its only plant was just watered
   - the one in the report was watered five days ago

| Plant | Watered | Every | Days left | Should be |
|---|---|---:|---:|---:|
| Basil | 5 days ago | 3 | -2 | 0 |
| Monstera deliciosa in the hall | today | 7 | 7 | 7 |
| Fern | yesterday | 2 | 1 | 1 |

\`\`\`js
export function daysUntilWater({ wateredOn, everyDays }, today) {
  const passed = Math.floor((today - wateredOn) / 86_400_000); // a line that is longer than a phone is wide, so it scrolls
  return Math.max(0, everyDays - passed);
}
\`\`\`

> A plant that is overdue needs water today.

See [the README](README.md) and <https://example.org/a-long-address-without-any-space/that-has-to-break-somewhere/on-a-narrow-screen?with=parameters>.`;

const OUTPUT = `TAP version 13
\u001b[32mok 1\u001b[0m - a plant that was just watered waits its whole time
\u001b[31mnot ok 2\u001b[0m - a plant that is overdue needs water today
  ---
  expected: 0
  actual: -2
  ...
1..2
# tests 2
# pass 1
# fail 1`;

/** Calls that ended in every way, with the tools whose cards differ. */
const CALLS = [
  {
    name: 'read_file',
    args: { path: 'src/watering.js' },
    output: 'export function daysUntilWater() {}\n',
    outcome: 'done',
  },
  {
    name: 'edit_file',
    args: { path: 'src/watering.js', old_string: SOURCE_OLD, new_string: SOURCE_NEW },
    output: 'Edited src/watering.js.',
    outcome: 'done',
  },
  { name: 'bash', args: { command: 'node --test --test-reporter=tap src/' }, output: OUTPUT, outcome: 'failed' },
  {
    name: 'write_file',
    args: { path: '/etc/hosts', content: '127.0.0.1 garden\n' },
    output: 'Denied.',
    outcome: 'denied',
  },
  {
    name: 'web_fetch',
    args: { url: 'https://example.org/plants' },
    output: 'Nobody answered in time.',
    outcome: 'expired',
  },
  { name: 'bash', args: { command: 'rm -rf /' }, output: 'Blocked by a policy.', outcome: 'blocked' },
  { name: 'bash', args: { command: 'sleep 600' }, output: 'Stopped.', outcome: 'cancelled' },
  { name: 'bash', args: { command: 'git push --force' }, output: '', outcome: 'unknown' },
] as const;

/** A conversation with formatted answers and all tool cards. */
export function toolsConversation(nowMs: number): File {
  const at = (minute: number) => nowMs - (90 - minute) * 60_000;
  return {
    format: 'headgate-conversation',
    version: 1,
    name: 'watering',
    messages: [
      { role: 'user', createdMs: at(0), content: 'Why does the test of the watering fail?' },
      {
        role: 'assistant',
        createdMs: at(1),
        content: 'I read the code and run the tests.',
        reasoning: 'The difference may be negative.',
        toolCalls: CALLS.map(({ name, args }, index) => ({ id: `c${index}`, name, arguments: JSON.stringify(args) })),
      },
      ...CALLS.map(
        ({ name, output, outcome }, index): Message => ({
          ...{ role: 'tool', createdMs: at(2), callId: `c${index}`, name, output, outcome, durationMs: 1_200 + index },
        }),
      ),
      { role: 'assistant', createdMs: at(5), content: ANSWER, toolCalls: [] },
      {
        role: 'user',
        createdMs: at(60),
        content: 'Then add a test for a plant that is due today.\n\nAnd one for tomorrow.',
      },
      { role: 'assistant', createdMs: at(61), content: 'Both tests are there, and all four pass.', toolCalls: [] },
    ],
    notes: [
      { kind: 'info', createdMs: at(3), after: 10, message: 'The model is now small.' },
      { kind: 'error', createdMs: at(4), after: 10, message: 'The model server answered 503. A retry worked.' },
    ],
  };
}

const GUIDE = `A plant needs $w = a\\,t$ litres in $t$ days.[^1] In all:

$$w = \\sum_{i=1}^{n} a_i \\, t_i$$

\`\`\`mermaid
flowchart LR
  accTitle: When to water
  A[Look at the soil] --> B{Dry?}
  B -->|yes| C[Water]
  B -->|no| D[Wait a day]
\`\`\`

- [x] Basil
- [ ] Fern, which stands in the shade of the old wall and needs less than all others in the bed beside it

1. First
   1. below it
      1. and below that

\`\`\`diff
- return everyDays - passed;
+ return Math.max(0, everyDays - passed);
\`\`\`

[^1]: With a in litres per day.`;

/** A conversation whose answer has formulas, footnotes and a diagram, and which a summary continues. */
export function guideConversation(nowMs: number): File {
  return {
    format: 'headgate-conversation',
    version: 1,
    name: 'guide',
    messages: [
      { role: 'user', createdMs: nowMs - 60_000, content: 'Explain how much water a plant needs.' },
      { role: 'assistant', createdMs: nowMs, content: GUIDE, toolCalls: [] },
    ],
    notes: [],
  };
}
