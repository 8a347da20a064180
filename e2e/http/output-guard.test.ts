import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { callersOf } from '../support/clients/callers.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
const { operator } = callersOf(daemon);

const WAYS = ['whole', 'pieces', 'error', 'long', 'file', 'search'] as const;
/** Five secrets for each way. They are not in any request, so that whatever shows one took it from an output. */
const CANARIES = WAYS.flatMap((way, n) =>
  Array.from({ length: 5 }, (_, m) => `ghp_C4n${n}${m}aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0z`).map((secret) => ({
    way,
    secret,
  })),
);
const of = (way: (typeof WAYS)[number]) => CANARIES.filter((canary) => canary.way === way).map(({ secret }) => secret);

const command = (text: string) => ({ name: 'bash', arguments: { command: text } });
const read = (way: string, then = '') => command(`while read -r s; do ${then || 'echo "key $s"'}; done < ${way}.txt`);

model.onRequest(({ messages }) =>
  messages.at(-1)?.role === 'tool'
    ? say('done')
    : callTools(
        read('whole'),
        read('pieces', 'fold -w 7 <<< "$s" | while read -r part; do printf %s "$part"; done; echo'),
        command('cat error.txt >&2; exit 3'),
        command('cat long.txt; for i in {1..4000}; do echo "line $i of many"; done; cat long.txt'),
        { name: 'read_file', arguments: { path: 'file.txt' } },
        { name: 'search', arguments: { query: 'search marker' } },
      ),
);

/** Everything in the home, as one text per file. */
async function textsOf(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, 'latin1')] as const)));
}

test('A secret in the output of a tool must not reach streams, the model, the database or files of the home', async () => {
  await using talk = await openConversation(daemon, { autoApprove: true });
  const workdir = join(daemon.home, 'workspace');
  for (const way of WAYS) {
    const lines = of(way).map((secret) => `${secret}${way === 'search' ? ' search marker' : ''}\n`);
    await writeFile(join(workdir, `${way}.txt`), lines.join(''));
  }
  const asked = await talk.ask('show them');
  await talk.ended(asked);
  const seen = JSON.stringify([talk.seen, model.requests]);
  const stored = [...(await textsOf(daemon.home))].filter(([file]) => !file.startsWith(workdir));
  const exported = JSON.stringify((await operator(`GET /v1/api/workstreams/${talk.wsId}/history`)).body);
  const shownIn = (secret: string) => [
    ...(seen.includes(secret) ? ['streams or requests'] : []),
    ...(exported.includes(secret) ? ['history'] : []),
    ...stored.flatMap(([file, text]) => (text.includes(secret) ? [file] : [])),
  ];
  assert.deepEqual(
    CANARIES.flatMap(({ way, secret }) => shownIn(secret).map((where) => `${way}: ${where}`)),
    [],
  );
  const chunks = talk.seen.flatMap(({ event }) => (event.type === 'tool_output_chunk' ? [event.chunk] : []));
  assert.match(chunks.join(''), /key \[REDACTED:api_key\]/);
});

test('Findings of the output guard must be listed with their filters, the newest first', async () => {
  const { assessments, total } = (await operator('GET /v1/api/admin/output-assessments?risk_level=high')).body;
  assert.equal(total, WAYS.length);
  const [{ assessment_id, ws_id, call_id, created, output_length, func_name, ...found }] = assessments;
  assert.match(assessment_id, /^asm_/);
  assert.deepEqual(found, {
    ...{ flags: '["credential_leak"]', risk_level: 'high', annotations: '["A key, a token or a password."]' },
    redacted: 1,
  });
  assert.equal((await operator('GET /v1/api/admin/output-assessments?risk_level=low')).body.total, 0);
  assert.equal(
    (await operator(`GET /v1/api/admin/output-assessments?ws_id=${ws_id}&limit=2`)).body.assessments.length,
    2,
  );
});
