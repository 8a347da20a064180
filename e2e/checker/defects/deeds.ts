import type { Answer, CallHistory, Evidence } from '../evidence.ts';
import type { Random } from '../random.ts';
import { type Defect, pickEffect, pickRun } from './defect.ts';

const ACCEPTED = 'accepted messages are kept';
const ONE_ANSWER = 'a key has one answer';
const ONE_START = 'every side effect has exactly one start';
const OUTLIVES = 'no process outlives its run';
const SECRETS = 'secrets stay secret';

const runIdIn = ({ payload }: Answer): string | undefined => Object(payload).runId;

const isOfMessage = ({ params }: CallHistory, given: Answer): boolean =>
  params.message !== undefined && runIdIn(given) !== undefined;

function pickAnswer({ calls }: Evidence, random: Random, fits: (call: CallHistory, answer: Answer) => boolean) {
  const all = calls.flatMap((call) => call.answers.map((answer) => ({ call, answer })));
  return random.pick(all.filter(({ call, answer }) => fits(call, answer)));
}

/** Defects of answers, of the effects of commands, of memory and of secrets. */
export const DEED_DEFECTS: Defect[] = [
  {
    name: 'an accepted message is not stored',
    rule: ACCEPTED,
    apply(evidence, random) {
      const { answer } = pickAnswer(evidence, random, isOfMessage);
      const { workstream, part } = pickRun(evidence, random, ({ run }) => run.run_id === runIdIn(answer));
      workstream.runs.splice(workstream.runs.indexOf(part), 1);
    },
  },
  {
    name: 'an accepted message is stored with another text',
    rule: ACCEPTED,
    apply(evidence, random) {
      const { answer } = pickAnswer(evidence, random, isOfMessage);
      const { part } = pickRun(evidence, random, ({ run }) => run.run_id === runIdIn(answer));
      part.run.request_json = JSON.stringify({ message: 'something else' });
    },
  },
  {
    name: 'a run that failed was answered as a success',
    rule: ACCEPTED,
    apply(evidence, random) {
      const { answer } = pickAnswer(
        evidence,
        random,
        (call, { payload }) => call.method === 'agent' && Object(payload).status === 'ok',
      );
      const { part } = pickRun(evidence, random, ({ run }) => run.run_id === runIdIn(answer));
      part.run.status = 'error';
    },
  },
  {
    name: 'a repeat gets a different answer',
    rule: ONE_ANSWER,
    apply(evidence, random) {
      const isRepeated = ({ params }: CallHistory) =>
        evidence.calls.filter((call) => call.params.idempotencyKey === params.idempotencyKey).length > 1;
      const fits = (call: CallHistory, given: Answer) =>
        call.params.message !== undefined &&
        call.params.idempotencyKey !== undefined &&
        isRepeated(call) &&
        runIdIn(given) !== undefined;
      Object.assign(Object(pickAnswer(evidence, random, fits).answer.payload), { runId: 'another' });
    },
  },
  {
    name: 'a message is accepted twice',
    rule: ONE_ANSWER,
    apply(evidence, random) {
      const { workstream, part } = pickRun(evidence, random, ({ run }) => run.run_key !== null);
      workstream.runs.push({ ...part, run: { ...part.run, run_id: 'again' } });
    },
  },
  {
    name: 'a refused message is stored',
    rule: ONE_ANSWER,
    apply(evidence, random) {
      const { call } = pickAnswer(
        evidence,
        random,
        ({ method }, given) => method === 'workstream.send' && runIdIn(given) !== undefined,
      );
      const same = evidence.calls.filter(({ params }) => params.idempotencyKey === call.params.idempotencyKey);
      for (const { answers } of same) for (const answer of answers) answer.payload = { status: 'busy' };
    },
  },
  {
    name: 'an answered decision is stored differently',
    rule: 'an answered decision is stored',
    apply(evidence, random) {
      const { call } = pickAnswer(evidence, random, ({ params }, { ok }) => ok && params.approvalId !== undefined);
      call.params.approved = !call.params.approved;
    },
  },
  {
    name: 'a decision was made by no one',
    rule: 'every decision was made by someone',
    apply(evidence, random) {
      const { call } = pickAnswer(evidence, random, ({ params }, { ok }) => ok && params.approvalId !== undefined);
      evidence.calls.splice(evidence.calls.indexOf(call), 1);
    },
  },
  {
    name: 'a run continues after its cancel was answered',
    rule: 'an answered cancel has ended the run',
    apply(evidence, random) {
      const { answer } = pickAnswer(evidence, random, ({ method }) => method === 'workstream.cancel');
      answer.atMs -= 10_000;
    },
  },
  {
    name: 'a line is written twice',
    rule: ONE_START,
    apply(evidence, random) {
      evidence.effects.push(pickEffect(evidence, random, () => true));
    },
  },
  {
    name: 'a command runs twice for one start',
    rule: ONE_START,
    apply(evidence, random) {
      evidence.effects.push({ ...pickEffect(evidence, random, () => true), start: 'again' });
    },
  },
  {
    name: 'a command runs that the model did not call',
    rule: ONE_START,
    apply(evidence, random) {
      evidence.effects.push({ ...pickEffect(evidence, random, () => true), tag: 'fx-unknown' });
    },
  },
  {
    name: 'a denied command runs',
    rule: ONE_START,
    apply(evidence, random) {
      evidence.effects.push({ ...pickEffect(evidence, random, () => true), tag: 'fx-denied' });
    },
  },
  {
    name: 'a command runs before its start is recorded',
    rule: ONE_START,
    apply(evidence, random) {
      pickEffect(evidence, random, ({ phase }) => phase === 'begin').atMs -= 60_000;
    },
  },
  {
    name: 'a cancelled run continues to write',
    rule: OUTLIVES,
    apply(evidence, random) {
      const begin = pickEffect(evidence, random, ({ tag }) => tag === 'fx-cancelled');
      evidence.effects.push({ ...begin, phase: 'end', atMs: begin.atMs + 30_000 });
    },
  },
  {
    name: 'a process outlives its daemon',
    rule: OUTLIVES,
    apply(evidence, random) {
      const begin = pickEffect(evidence, random, ({ tag }) => tag === 'fx-deadly');
      const atMs = (evidence.boots.at(-1)?.readyMs ?? 0) + 1;
      evidence.effects.push({ ...begin, phase: 'end', atMs });
    },
  },
  {
    name: 'memory grows beyond its budget',
    rule: 'memory stays within its budget',
    apply({ memory }) {
      memory.samples.push({ atMs: 0, bytes: memory.budgetBytes + 1 });
    },
  },
  {
    name: 'a secret is printed',
    rule: SECRETS,
    apply({ artefacts, secrets }, random) {
      random.pick(artefacts).text += ` token=${random.pick(secrets).value}`;
    },
  },
  {
    name: 'a secret is in the output of a command',
    rule: SECRETS,
    apply({ streams, secrets }, random) {
      const chunk = `PASSWORD=${random.pick(secrets).value}`;
      random.pick(streams).frames.push({ data: { type: 'tool_output_chunk', call_id: 'call', chunk } });
    },
  },
  {
    name: 'a secret is in an answer',
    rule: SECRETS,
    apply(evidence, random) {
      const { value } = random.pick(evidence.secrets);
      pickAnswer(evidence, random, () => true).answer.payload = { error: `no such key: ${value}` };
    },
  },
];
