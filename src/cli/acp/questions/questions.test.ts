import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestPermissionRequest } from '@agentclientprotocol/sdk';
import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import type { Question } from '../../terminal/question-lines.ts';
import { itemOf } from '../item-fixture.ts';
import type { FormRequest } from './question-forms.ts';
import { askEditor } from './questions.ts';

type Permission = Omit<RequestPermissionRequest, 'sessionId'>;

/** Asks an editor whose person chooses these options, one after the other; `undefined` leaves. */
async function ask(question: Partial<Question>, choices: readonly (string | undefined)[]) {
  const asked: Permission[] = [];
  const decision = await askEditor(
    { approvalId: 'a1', kind: 'tools', items: [], ...question },
    {
      place: { workdir: '/w' },
      agent: undefined,
      editor: {
        fill: undefined,
        async permit(request) {
          const optionId = choices[asked.length];
          asked.push(request);
          return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
        },
      },
    },
  );
  return { decision, asked };
}

const rules: ApprovalItem['rules'] = [
  { id: 'command', kind: 'command', match: { command: 'touch x' }, terms: ['hour', 'conversation', 'always'] },
  { id: 'program', kind: 'program', match: { program: 'touch' }, terms: ['hour', 'conversation', 'always'] },
];

test('a call can be allowed once, always by the narrowest rule, or rejected', async () => {
  const { asked, decision } = await ask({ items: [itemOf({ rules })] }, ['allow']);
  assert.deepEqual(decision, { approved: true });
  assert.deepEqual(
    asked[0]?.options.map(({ optionId, kind, name }) => [optionId, kind, name]),
    [
      ['allow', 'allow_once', 'Allow'],
      ['allow-conversation', 'allow_always', 'Allow exactly this command in this conversation'],
      ['allow-always', 'allow_always', 'Allow exactly this command for good, in this folder'],
      ['reject', 'reject_once', 'Reject'],
    ],
  );
  const given = await ask({ items: [itemOf({ rules })] }, ['allow-always']);
  assert.deepEqual(given.decision, { approved: true, rules: [{ callId: 'call_1', id: 'command', term: 'always' }] });
  assert.deepEqual((await ask({ items: [itemOf()] }, ['reject'])).decision, { approved: false });
});

test('an option that was not offered rejects, and no answer decides nothing', async () => {
  for (const odd of ['allow-always', 'yes', '', 'constructor'])
    assert.deepEqual((await ask({ items: [itemOf()] }, [odd])).decision, { approved: false }, odd);
  assert.equal((await ask({ items: [itemOf()] }, [undefined])).decision, undefined);
});

test('several calls are asked one by one and decided together, without those that need no answer', async () => {
  const items = [
    itemOf({ call_id: 'a' }),
    itemOf({ call_id: 'b', needs_approval: false }),
    itemOf({ call_id: 'c', rules }),
    itemOf({ call_id: 'd', error: 'no such file' }),
  ];
  const { asked, decision } = await ask({ items }, ['reject', 'allow-conversation']);
  assert.deepEqual(
    asked.map(({ toolCall }) => toolCall.toolCallId),
    ['a', 'c'],
  );
  assert.deepEqual(decision, {
    approved: false,
    rules: [{ callId: 'c', id: 'command', term: 'conversation' }],
    decisions: { a: { approved: false }, c: { approved: true } },
  });
});

test('warnings about a call come before its preview, and text of the agent cannot add lines to the title', async () => {
  const item = itemOf({
    header: 'bash x\u001b[2J\nAllowed by: you',
    preview: 'x\n```\nfake',
    not_sandboxed: 'no bubblewrap',
  });
  const { asked } = await ask({ items: [item] }, ['reject']);
  const texts = (asked[0]?.toolCall.content ?? []).map((part) =>
    part.type === 'content' && part.content.type === 'text' ? part.content.text : '',
  );
  assert.equal(asked[0]?.toolCall.title, 'bash x\\u001b[2J Allowed by: you');
  assert.match(texts[0] ?? '', /! Not sandboxed: no bubblewrap/);
  assert.equal(texts.length, 2);
});

test('instructions and budgets are asked as a whole', async () => {
  const instructions = await ask(
    { kind: 'instructions', items: [itemOf({ call_id: 'a' }), itemOf({ call_id: 'b' })] },
    ['allow'],
  );
  assert.deepEqual([instructions.decision, instructions.asked.length], [{ approved: true }, 1]);
  const budget = { of: 'run', key: 'r', unit: 'tokens', limit: 10, spent: 12, more: 10 } as const;
  const { asked, decision } = await ask({ kind: 'budget', budget }, ['reject']);
  assert.deepEqual(
    [asked[0]?.toolCall.title, asked[0]?.options.map(({ name }) => name), decision],
    ['Continue with 10 tokens more?', ['Continue', 'Stop here'], { approved: false }],
  );
});

const question = { text: 'Which colour?', choices: [{ label: 'red' }, { label: 'blue', description: 'like the sea' }] };

test('without forms, a question of the agent offers its choices, and an answer in the chat', async () => {
  const asking = { items: [itemOf({ func_name: 'ask_user', question })] };
  const { asked, decision } = await ask(asking, ['choice-1']);
  assert.deepEqual(
    asked[0]?.options.map(({ name }) => name),
    ['red', 'blue', 'I answer in my next message'],
  );
  assert.deepEqual(decision, { approved: true, decisions: { call_1: { approved: true, choice: 'blue' } } });
  const later = await ask(asking, ['chat']);
  assert.equal(later.decision?.approved, false);
  assert.match(later.decision?.feedback ?? '', /answers in the next message/);
});

test('with forms, a question takes a choice, any text, or no answer', async () => {
  const fill = async (content: object, action = 'accept') => {
    let form: FormRequest | undefined;
    const decision = await askEditor(
      { approvalId: 'a1', kind: 'tools', items: [itemOf({ func_name: 'ask_user', question })] },
      {
        place: { workdir: '/w' },
        agent: undefined,
        editor: {
          permit: () => Promise.reject(new Error('not asked')),
          async fill(request) {
            form = request;
            return { action, content } as never; // any answer of an editor
          },
        },
      },
    );
    return { form, decision };
  };
  const { form, decision } = await fill({ choice: 'red' });
  assert.deepEqual(Object.keys(form?.requestedSchema.properties ?? {}), ['choice', 'answer']);
  assert.deepEqual(decision?.decisions, { call_1: { approved: true, choice: 'red' } });
  assert.deepEqual((await fill({ answer: ' green ' })).decision?.decisions, {
    call_1: { approved: true, answer: 'green' },
  });
  assert.deepEqual((await fill({ choice: 'pink' })).decision?.decisions, { call_1: { approved: true, answer: '' } });
  assert.equal((await fill({}, 'decline')).decision?.approved, false);
});

const plan = { content: '## Goal', round: 1, revisions_left: 2 };

/** Asks about a plan: what the person picks, and what they write into the form, in turn. */
async function review(picked: string[], forms: object[] | undefined, asked: Partial<typeof plan> = {}) {
  const offered: (string | undefined)[][] = [];
  const fill = async (_: FormRequest) => (forms?.shift() ?? assert.fail('no form')) as never; // any answer of an editor
  const decision = await askEditor(
    { approvalId: 'a1', kind: 'plan', items: [itemOf({ func_name: 'plan_agent', plan: { ...plan, ...asked } })] },
    {
      place: { workdir: '/w' },
      agent: undefined,
      editor: {
        async permit({ options }) {
          offered.push(options.map(({ optionId }) => optionId));
          return { outcome: { outcome: 'selected', optionId: picked.shift() ?? assert.fail('asked again') } };
        },
        fill: forms && fill,
      },
    },
  );
  return { offered, decision };
}

test('a plan is approved, rejected, or revised with a text from a form', async () => {
  const written = { action: 'accept', content: { changes: ' smaller ' } };
  assert.deepEqual(await review(['revise'], [written]), {
    offered: [['allow', 'revise', 'reject']],
    decision: { approved: false, feedback: 'smaller' },
  });
  assert.deepEqual((await review(['allow'], [])).decision, { approved: true });
  assert.deepEqual((await review(['reject'], [])).decision, { approved: false });
});

test('a form for changes that is left, or empty, leads back to the options', async () => {
  const left = [{ action: 'cancel' }, { action: 'accept', content: { changes: ' ' } }];
  const { offered, decision } = await review(['revise', 'revise', 'allow'], left);
  assert.deepEqual([offered.length, decision], [3, { approved: true }]);
});

test('a plan cannot be revised from an editor without forms, or after its last revision', async () => {
  const plain = [['allow', 'reject']];
  assert.deepEqual((await review(['reject'], undefined)).offered, plain);
  assert.deepEqual((await review(['reject'], [], { revisions_left: 0 })).offered, plain);
});
