import assert from 'node:assert/strict';
import { type Asked, newSession, openEditor, prompt } from '../../support/clients/acp-editor.ts';
import type { DaemonUnderTest } from '../../support/daemon/daemon.ts';
import type { Way } from './way.ts';

/** In an editor, over the Agent Client Protocol. */
export async function byAcp(daemon: DaemonUnderTest, cwd: string): Promise<Way & AsyncDisposable> {
  const editor = await openEditor({ env: { HEADGATE_HOME: daemon.home } });
  const sessionId = await newSession(editor, cwd);
  let turn: Promise<unknown> = Promise.resolve();
  let heardBefore = 0;
  const ask = (text: string) => {
    heardBefore = editor.updates.all.length;
    return prompt(editor, sessionId, text);
  };
  const answered = new Set<Asked>();
  const allow = async (about: string) => {
    const asked = await editor.permissions.until((one) => !answered.has(one), about);
    answered.add(asked);
    assert.ok(JSON.stringify(asked.request.toolCall).includes(about), JSON.stringify(asked.request));
    asked.answer(asked.request.options.find(({ kind }) => kind === 'allow_once')?.optionId ?? 'none');
  };
  const command = async (line: string, answer: string) => {
    await ask(line);
    assert.match(editor.textIn(sessionId, heardBefore), new RegExp(answer));
  };
  return {
    async say(message) {
      turn = ask(message);
    },
    allow,
    acceptPlan: () => allow('Take off a percentage'),
    async answered(text) {
      assert.deepEqual(await turn, { stopReason: 'end_turn' });
      assert.ok(editor.textIn(sessionId, heardBefore).endsWith(text));
    },
    undo: () => command('/undo', 'was taken back'),
    redo: () => command('/redo', 'is back'),
    [Symbol.asyncDispose]: () => editor[Symbol.asyncDispose](),
  };
}
