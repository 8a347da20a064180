import assert from 'node:assert/strict';
import type { DaemonUnderTest } from '../daemon/daemon.ts';
import type { ScriptedModel } from '../model/scripted-model.ts';
import { readBody } from './read-body.ts';

/** The administration of templates, below /v1/api. */
export const ADMIN = { prompts: 'admin/templates', settings: 'admin/ws-templates' } as const;

/** A verb and a path below /v1/api. */
type Target = `${string} ${string}`;

/** Requests about templates, as clients send them. */
export async function openTemplates({ daemon, model }: { daemon: DaemonUnderTest; model: ScriptedModel }) {
  const client = await daemon.client();
  let names = 0;
  const newName = (kind: string) => `${kind}-${++names}`;

  /** Status and body. */
  async function ask(target: Target, sent?: object, token = daemon.token) {
    const [method = '', route] = target.split(' ');
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const init = { method, headers, ...(sent && { body: JSON.stringify(sent) }) };
    const answer = await daemon.fetch(`/v1/api/${route}`, init);
    return { status: answer.status, body: await readBody(answer) };
  }

  /** The body of an answer that must be a success. */
  async function done(target: Target, sent?: object) {
    const { status, body } = await ask(target, sent);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  }

  /** Sends a message, and returns the request that the model received. */
  async function requestOf(wsId: string, message = 'hello') {
    const before = model.requests.length;
    const { run_id: runId } = await done('POST send', { ws_id: wsId, message });
    await client.call('agent.wait', { runId, timeoutMs: 30_000 });
    return model.requests[before]?.body ?? assert.fail('no request');
  }

  const systemFor = async (wsId: string) => String((await requestOf(wsId)).messages[0]?.content);

  return {
    client,
    newName,
    ask,
    done,
    requestOf,
    systemFor,
    addPrompt: (fields: object) =>
      done(`POST ${ADMIN.prompts}`, { name: newName('prompt'), content: 'Text.', ...fields }),
    addSettings: (fields: object) => done(`POST ${ADMIN.settings}`, { name: newName('desk'), ...fields }),
    create: (fields: object) => done('POST workstreams/new', fields),
    async endsWith(wsId: string, text: string): Promise<void> {
      const system = await systemFor(wsId);
      assert.ok(system.endsWith(`\n\n${text}`), system.slice(-200));
    },
    /** A token without the approve scope. */
    writer: async () => (await client.call('token.create', { name: newName('writer'), scope: 'write' })).token,
  };
}
