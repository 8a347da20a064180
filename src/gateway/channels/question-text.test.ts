import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import { questionText } from './question-text.ts';
import { render } from './telegram/outbound/render.ts';

const item = (fields: Partial<ApprovalItem>): ApprovalItem => ({
  ...{ call_id: 'c', header: 'bash: ls', preview: 'ls', func_name: 'bash', approval_label: 'bash' },
  ...{ needs_approval: true, error: null },
  ...fields,
});

/** As people see it at Telegram. */
const shown = (items: readonly ApprovalItem[]) => render(questionText('tools', items)).map(({ plain }) => plain);

test('a question is one message that names each of its calls, however long they are, and says where it is cut', () => {
  const calls = [...'abcdefg'].map((name) =>
    item({ header: `bash: ${name.repeat(900)}`, preview: `${name} `.repeat(2_000), not_sandboxed: '!'.repeat(900) }),
  );
  for (const items of [calls, calls.slice(0, 1)]) {
    const [text = '', ...more] = shown(items);
    const names = [...'abcde'].slice(0, items.length);
    assert.deepEqual(more, []);
    assert.ok(text.length < 3_900, 'there is room for the decision');
    assert.deepEqual(
      names.filter((name) => !text.includes(`bash: ${name}`) || !text.includes(`\n${name} ${name}`)),
      [],
    );
    assert.equal(text.split('This is only the beginning').length - 1, names.length);
    assert.equal(text.split('It runs without a sandbox').length - 1, names.length);
  }
  assert.match(shown(calls)[0] ?? '', /… and 2 more; look at them on the page\.$/);
});

test('nothing that a model writes is invisible, or mark-up, in a question', () => {
  const [text] = shown([
    item({
      header: 'bash: [harmless](https://evil.example) **x** `y`',
      preview: 'echo \u202egnp.exe\u200b\n```\nno end',
      not_sandboxed: 'because \u2066 *so*',
    }),
  ]);
  const lines = [
    ...['❓ May I do this?', '', 'bash: [harmless](https://evil.example) **x** `y`'],
    ...[
      String.raw`echo \u202egnp.exe\u200b`,
      '```',
      'no end',
      String.raw`⚠ It runs without a sandbox: because \u2066 *so*`,
    ],
  ];
  assert.equal(text?.replaceAll(/\n+/g, '\n'), lines.filter((line) => line !== '').join('\n'));
});

test('a short question is shown whole', () => {
  assert.doesNotMatch(shown([item({})])[0] ?? '', /beginning|more/);
});
