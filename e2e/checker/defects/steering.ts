import type { Evidence, RunOnDisk, SentMessage } from '../evidence.ts';
import type { Random } from '../random.ts';
import { type Defect, pickEvent, pickRun, renumber, swap } from './defect.ts';

const ONCE = 'a message that steers is answered once';
const TO_MODEL = 'the model gets a message that steers once, after the results';

const requestIn = ({ run }: RunOnDisk) => JSON.parse(run.request_json);
const isTaken = (onDisk: RunOnDisk): boolean => requestIn(onDisk).steeredInto !== undefined;
const isOwn = (onDisk: RunOnDisk): boolean => requestIn(onDisk).steer && !isTaken(onDisk);

const pickTaken = (evidence: Evidence, random: Random) =>
  pickEvent(evidence, random, (event) => event.type === 'user_turn' && event.steered_run_id !== undefined);

const isIn = (content: unknown, message: string): boolean => String(content).split('\n\n').includes(message);

/** A request with a message that a run took, and its place. */
function pickRequest(evidence: Evidence, random: Random): { request: SentMessage[]; at: number } {
  const { part } = pickRun(evidence, random, isTaken);
  const { message } = requestIn(part);
  const all = (evidence.requests ?? []).map((request) => ({
    request,
    at: request.findIndex(({ role, content }) => role === 'user' && isIn(content, message)),
  }));
  return random.pick(all.filter(({ at }) => at >= 0));
}

/** Defects in messages that steer a run. */
export const STEERING_DEFECTS: Defect[] = [
  {
    name: 'a message that steers is lost when the run ends without a further turn',
    rule: ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickRun(evidence, random, isOwn);
      const { run_id: id } = part.run;
      const from = workstream.events.findIndex(({ event }) => event.type === 'user_turn' && event.run_id === id);
      const to = workstream.events.findIndex(({ event }) => event.type === 'ws_state' && event.run?.run_id === id);
      workstream.events.splice(from, to - from + 1);
      renumber(workstream.events);
      workstream.messages = workstream.messages.filter(({ runId }) => runId !== id);
      part.run.started_ms = null;
    },
  },
  {
    name: 'a message that steers is given to the run and is sent again as its own run',
    rule: ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickTaken(evidence, random);
      const { event } = part[1];
      if (event.type !== 'user_turn') return;
      const { steered_run_id: id = '', ...turn } = event;
      const offset = workstream.events.length + 1;
      workstream.events.push({ offset, event: { ...turn, run_id: id } });
    },
  },
  {
    name: 'two runs take one message',
    rule: ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickTaken(evidence, random);
      workstream.events.push(structuredClone(part[1]));
      renumber(workstream.events);
    },
  },
  {
    name: 'a run that steers ends without its message',
    rule: ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickTaken(evidence, random);
      workstream.events.splice(part[0], 1);
      renumber(workstream.events);
    },
  },
  {
    name: 'a message that steers is stored before the results of calls',
    rule: ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickTaken(evidence, random);
      const { event } = part[1];
      if (event.type !== 'user_turn' || event.seq === undefined) throw new Error('it has no number');
      swap(workstream.messages, event.seq - 1, event.seq - 2);
      event.seq -= 1;
    },
  },
  {
    name: 'a run takes a message without asking the model again',
    rule: ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickRun(evidence, random, isTaken);
      const by = workstream.runs.find(({ run }) => run.run_id === requestIn(part).steeredInto);
      by?.journal.splice(by.journal.findLastIndex(({ kind }) => kind === 'model_called'));
    },
  },
  {
    name: 'the model gets a message that steers twice',
    rule: TO_MODEL,
    apply(evidence, random) {
      const { request, at } = pickRequest(evidence, random);
      request.push(structuredClone(request[at] as SentMessage)); // it was found there
    },
  },
  {
    name: 'the model gets a message that steers before the results of its calls',
    rule: TO_MODEL,
    apply(evidence, random) {
      const { request, at } = pickRequest(evidence, random);
      swap(request, at, at - 1);
    },
  },
  {
    name: 'the model never gets a message that steers',
    rule: TO_MODEL,
    apply(evidence, random) {
      const { part } = pickRun(evidence, random, isTaken);
      const { message } = requestIn(part);
      evidence.requests = evidence.requests?.map((request) => request.filter(({ content }) => !isIn(content, message)));
    },
  },
];
