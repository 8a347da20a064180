import assert from 'node:assert/strict';
import { methods } from '@agentclientprotocol/sdk';
import { type Asked, openEditor } from '../../support/clients/acp-editor.ts';
import type { DaemonUnderTest } from '../../support/daemon/daemon.ts';
import type { Way } from './way.ts';

/** In an editor, over the Agent Client Protocol. */
export async function byAcp(daemon: DaemonUnderTest, cwd: string): Promise<Way & AsyncDisposable> {
  const editor = await openEditor({ env: { HEADGATE_HOME: daemon.home } });
  const { session } = methods.agent;
  const { sessionId } = await editor.agent.request(session.new, { cwd, mcpServers: [] });
  let turn: Promise<unknown> = Promise.resolve();
  let heardBefore = 0;
  const prompt = (text: string) => {
    heardBefore = editor.updates.all.length;
    return editor.agent.request(session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
  };
  const answered = new Set<Asked>();
  const allow = async (about: string) => {
    const asked = await editor.permissions.until((one) => !answered.has(one), about);
    answered.add(asked);
    assert.ok(JSON.stringify(asked.request.toolCall).includes(about), JSON.stringify(asked.request));
    asked.answer(asked.request.options.find(({ kind }) => kind === 'allow_once')?.optionId ?? 'none');
  };
  const command = async (line: string, answer: string) => {
    await prompt(line);
    assert.match(editor.textIn(sessionId, heardBefore), new RegExp(answer));
  };
  return {
    async say(message) {
      turn = prompt(message);
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
