import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findChanges } from './changes.ts';
import { type Now, toldBy } from './prefix.ts';

const file = (path: string, text: string) => ({ path, text, digest: text });
const tool = (name: string, description = '', properties = {}) => ({
  name,
  description,
  parameters: { type: 'object', properties },
});

const NOW: Now = {
  sight: {
    date: '2026-11-23',
    zone: 'Europe/Berlin',
    instructions: { files: [file('/shop/AGENTS.md', 'Run npm test.')], untrusted: [] },
  },
  workdir: '/shop',
  model: { family: 'anthropic', modelId: 'claude-sonnet-5-5' },
  tools: [tool('bash'), tool('search')],
  notSandboxed: undefined,
};
const TOLD = toldBy(NOW);

const changesIn = (later: Partial<Now>) => findChanges('v', TOLD, { ...NOW, ...later });

test('nothing is said while nothing has changed, nor when a tool is only described in other words', () => {
  assert.deepEqual(
    [changesIn({}), changesIn({ tools: [tool('bash', 'Runs commands.'), tool('search')] })],
    [undefined, undefined],
  );
});

test('a branch that was switched outside is told, unless an earlier version did not store what was told', () => {
  const sight = { ...NOW.sight, git: 'branch next, repository /shop' };
  const onMain = toldBy({ ...NOW, sight: { ...sight, git: 'branch main, repository /shop' } });
  const noteAfter = (told: typeof TOLD, git: string | undefined) =>
    findChanges('v', told, { ...NOW, sight: { ...sight, git } })?.note;
  const { git: _unknown, ...earlier } = onMain;
  assert.deepEqual(
    [
      noteAfter(onMain, sight.git),
      noteAfter(onMain, undefined),
      noteAfter(TOLD, sight.git),
      noteAfter(earlier, sight.git),
    ],
    [
      'The model was told: Git is now at branch next, repository /shop.',
      'The model was told: the working directory is no longer in a Git repository.',
      'The model was told: Git is now at branch next, repository /shop.',
      undefined,
    ],
  );
});

test('the model and people are told each change once', () => {
  const later: Now = {
    ...NOW,
    sight: {
      date: '2026-11-24',
      zone: 'Europe/Berlin',
      instructions: {
        files: [file('/shop/AGENTS.md', 'Run make.'), file('/shop/api/AGENTS.md', 'Go.')],
        untrusted: [],
      },
    },
    model: { family: 'anthropic', modelId: 'claude-opus-5-5' },
    tools: [tool('bash', '', { command: {} }), tool('fetch')],
    notSandboxed: 'bubblewrap is not installed',
  };
  const changes = findChanges('v', TOLD, later);
  assert.equal(
    changes?.message.content,
    `<environment>
This has changed:
- the date is now Tuesday, 2026-11-24 (Europe/Berlin).
- the model is now claude-opus-5-5.
- the sandbox of commands: none. Commands can change everything that the daemon’s user can change.
- the tool search is no longer available.
- there is a new tool, fetch. It can be used only after the person accepts the present tools with /tools accept.
- the tool bash now takes arguments of this schema: {"type":"object","properties":{"command":{}}}
- these instructions replace the earlier ones of /shop/AGENTS.md:
<instructions path="/shop/AGENTS.md">
Run make.
</instructions>
- there are new instructions of /shop/api/AGENTS.md:
<instructions path="/shop/api/AGENTS.md">
Go.
</instructions>
</environment>`,
  );
  assert.equal(
    changes?.note,
    'The model was told: the date is now Tuesday, 2026-11-24 (Europe/Berlin); the model is now claude-opus-5-5; ' +
      'commands now run without the sandbox; the tool search is no longer available; ' +
      'there is a new tool, fetch, which it can use after /tools accept; the tool bash takes other arguments; ' +
      'the instructions in /shop/AGENTS.md have changed; there are instructions in /shop/api/AGENTS.md.',
  );
  const told = changes?.message.environment?.told ?? TOLD;
  assert.equal(findChanges('v', told, later), undefined);
});

test('instructions that are gone no longer apply', () => {
  const sight = { ...NOW.sight, instructions: { files: [], untrusted: [] } };
  assert.match(
    changesIn({ sight })?.message.content ?? '',
    /- \/shop\/AGENTS\.md is gone or no longer trusted: its instructions no longer apply\./,
  );
});

test('a model whose name is not known yet is no change', () => {
  assert.equal(changesIn({ model: { family: 'anthropic', modelId: '' } }), undefined);
});
