import { say, stall } from '../../support/model/scripted-steps.ts';
import { bash, openScene, type Scene } from './conversations.ts';
import { addJob, turn } from './jobs.ts';
import type { Recording } from './recording.ts';

/** Starts what a kill is to interrupt: a command, an answer and a job. Resolves when all of them run. */
export async function beforeKill(recording: Recording): Promise<Scene> {
  const { daemon, model } = recording;
  const unknown = await openScene(recording, 'unknown');
  const running = await unknown.ask('dig a hole', bash('echo digging; sleep 600'), say('I do not know.'));
  running.answer.catch(() => undefined); // the kill ends the connection
  await unknown.decide({ approved: true });
  await unknown.talk.until('tool_output_chunk');

  const cut = await openScene(recording, 'cut');
  const half = stall();
  (await cut.ask('name the trees', [say('Oak, '), half], say('never'))).answer.catch(() => undefined);
  await half.reached;
  model.when('name the trees', say('Oak, elm, ', 'ash.'));

  const client = await daemon.client();
  const busy = stall();
  model.when('sweep the paths', [say('Sweep'), busy]);
  const id = await addJob(client, 'busy', turn('sweep the paths'));
  await client.call('cron.run', { id, mode: 'force', wait: false });
  await busy.reached;
  model.when('sweep the paths', say('Swept.'));
  client.close();
  cut.talk.client.close();
  return unknown;
}

/** After the kill, the outcome of the command is unknown. Decides not to run it again. */
export async function afterKill({ daemon }: Recording, { talk: { wsId } }: Scene): Promise<void> {
  const client = await daemon.client();
  const { approvals } = await client.call('approval.list', { wsId });
  const [pending] = approvals;
  if (pending?.kind !== 'outcome') throw new Error(`no question about an outcome: ${JSON.stringify(approvals)}`);
  await client.call('approval.resolve', { approvalId: pending.approvalId, approved: false });
  client.close();
}

/** Starts a command that an orderly stop ends. */
export async function beforeStop(recording: Recording): Promise<void> {
  const { talk, ask, decide } = await openScene(recording, 'stopped');
  const question = await ask('guard the gate', bash('echo guarding; sleep 600'), say('The guard was sent home.'));
  question.answer.catch(() => undefined); // the stop ends the connection
  await decide({ approved: true });
  await talk.until('tool_output_chunk');
  talk.client.close();
}

/** Leaves auto-approve on in one workstream and a pending question in another. */
export async function leftOpen(recording: Recording): Promise<void> {
  const always = await openScene(recording, 'always');
  const first = await always.ask('paint the fence', bash('echo painted'), say('Painted.'));
  await always.decide({ approved: true, always: true });
  await first.answer;
  const second = await always.ask('paint the gate', bash('echo painted too'), say('The gate, too.'));
  await second.answer;
  await always.talk.ended(second);
  always.talk.client.close();

  const waits = await openScene(recording, 'waits');
  const asked = await waits.ask('cut the hedge', bash('echo cut >> hedge.txt'), say('The hedge is cut.'));
  asked.answer.catch(() => undefined); // nobody decides while this daemon runs
  recording.secrets.waitingApproval = await waits.approvalId();
  recording.secrets.waitingRun = asked.runId;
  waits.talk.client.close();
}

/** Sends messages. The one to the webhook stays pending, because nothing listens there. */
export async function outbox({ daemon }: Recording): Promise<void> {
  const client = await daemon.client();
  const { sessionId } = await client.call('chat.history', { sessionKey: 'notes' });
  await client.call('send', { provider: 'webhook', to: 'shed', message: 'Open the shed.', idempotencyKey: 'send 1' });
  await client.call('send', {
    ...{ provider: 'workstream', to: sessionId ?? 'notes', message: 'From elsewhere.', idempotencyKey: 'send 2' },
  });
  await client.call('voicewake.set', { triggers: ['garden', 'shed'] });
  await client.call('system-event', { text: 'The gardener is here.' });
  client.close();
}

export async function attachments({ daemon, model }: Recording): Promise<void> {
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', { name: 'attached' });
  const place = `/v1/api/workstreams/${wsId}/attachments`;
  const upload = async (name: string, bytes: Uint8Array<ArrayBuffer>) => {
    const form = new FormData();
    form.set('file', new File([bytes], name));
    const response = await daemon.fetch(place, { method: 'POST', body: form });
    if (response.status !== 200) throw new Error(await response.text());
  };
  await upload('pixel.png', Uint8Array.from(Buffer.from(PIXEL, 'base64')));
  await upload('list.txt', new TextEncoder().encode('spade\nrake\n'));
  model.when('what is attached?', say('A pixel and a list.'));
  await client.call('agent', { message: 'what is attached?', sessionKey: wsId, idempotencyKey: 'attached' });
  await upload('unsent.txt', new TextEncoder().encode('not sent yet\n'));
  client.close();
}

/** A PNG image of one pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Records a question that expires. */
export async function expired(recording: Recording): Promise<void> {
  await patchConfig(recording, '{ approvalTimeoutSecs: 10 }');
  const { talk, ask } = await openScene(recording, 'expired');
  const question = await ask('empty the pond', bash('rm -r pond'), say('Too late.'));
  await question.answer;
  await talk.ended(question);
  talk.client.close();
  await patchConfig(recording, '{ approvalTimeoutSecs: 3600 }');
}

/** Changes config.json over the wire, which creates config.json.bak. */
export const settings = (recording: Recording): Promise<void> => patchConfig(recording, "{ logLevel: 'warn' }");

async function patchConfig({ daemon }: Recording, raw: string): Promise<void> {
  const client = await daemon.client();
  const { hash } = await client.call('config.get', {});
  await client.call('config.patch', { raw, baseHash: hash ?? '' });
  client.close();
}
