import type { Evidence, Finding, WorkstreamOnDisk } from '../../evidence.ts';
import { callsBy, resultFor, type Worker, workersOf } from '../../workers.ts';

/** What a call asks for. Names and messages occur in one call alone. */
interface Asked {
  name?: string;
  message?: string;
  ws_id?: string;
  workstreams?: Asked[];
}

interface LeadCall {
  worker: Worker;
  tool: string;
  asked: Asked[];
  outcome: string | undefined;
  output: string;
}

/** The calls of coordinators by their results. */
function leadCalls({ disk }: Evidence): LeadCall[] {
  return disk.workstreams.flatMap(workersOf).flatMap((worker) =>
    callsBy(worker).flatMap(({ id, name: tool, arguments: text }) => {
      const asked = read<Asked>(text);
      const result = resultFor(worker, id);
      if (!asked || !TOOLS.has(tool)) return [];
      const { outcome, output = '' } = result ?? {};
      return [{ worker, tool, asked: asked.workstreams ?? [asked], outcome, output }];
    }),
  );
}

const TOOLS = new Set(['spawn_workstream', 'spawn_batch', 'send_to_workstream', 'wait_for_workstream']);
const isSpawn = ({ tool }: LeadCall): boolean => tool.startsWith('spawn_');

/** A call has each of its children made once, and one that did not run has none made. */
export function* eachChildOnce(evidence: Evidence): Generator<Finding> {
  const children = evidence.disk.workstreams.filter(({ madeBy }) => madeBy !== undefined);
  const wished = new Set<string>();
  for (const call of leadCalls(evidence).filter(isSpawn)) {
    for (const { name } of call.asked) {
      if (name === undefined) continue;
      wished.add(name);
      const made = children.filter((child) => child.name === name);
      const what = wrongCount(made, call);
      if (what !== undefined) yield { what: `the child ${name} ${what}`, where: call.worker.place };
    }
  }
  for (const { wsId, name } of children)
    if (!wished.has(name)) yield { what: `the child ${name} was made by no call`, where: wsId };
}

function wrongCount(made: readonly WorkstreamOnDisk[], { outcome, output }: LeadCall): string | undefined {
  if (made.length > 1) return `was made ${made.length} times`;
  const isRefused = outcome === 'denied' || outcome === 'blocked' || outcome === 'expired';
  if (isRefused && made.length > 0) return `was made, although its call was ${outcome}`;
  const [child] = made;
  return outcome === 'done' && child && !output.includes(child.wsId) ? 'is not in the result of its call' : undefined;
}

/** A result names no child that is not there. */
export function* childrenOfResults(evidence: Evidence): Generator<Finding> {
  const known = new Set(evidence.disk.workstreams.map(({ wsId }) => wsId));
  for (const call of leadCalls(evidence).filter(isSpawn)) {
    for (const [, wsId = ''] of call.output.matchAll(/"ws_id":"([0-9a-f]{32})"/g))
      if (!known.has(wsId)) yield { what: `the child ${wsId} of a result is not there`, where: call.worker.place };
  }
}

/** What a coordinator says to its children reaches each of them once. */
export function* toldOnce(evidence: Evidence): Generator<Finding> {
  const children = evidence.disk.workstreams.filter(({ madeBy }) => madeBy !== undefined);
  const heard = children.flatMap(({ runs }) => runs.map(({ run }) => String(JSON.parse(run.request_json).message)));
  for (const call of leadCalls(evidence)) {
    for (const { message } of call.asked) {
      if (message === undefined) continue;
      const times = heard.filter((text) => text === message).length;
      const isLost = times === 0 && call.outcome === 'done' && !isSpawn(call) && /"status":"sent"/.test(call.output);
      if (times > 1 || isLost) yield { what: `"${message}" reached children ${times} times`, where: call.worker.place };
    }
  }
}

/** A coordinator hears of its children only what they have said. */
export function* saidByChildren(evidence: Evidence): Generator<Finding> {
  const { workstreams } = evidence.disk;
  for (const { worker, tool, output } of leadCalls(evidence)) {
    if (tool !== 'wait_for_workstream') continue;
    for (const { ws_id: wsId, messages = [] } of read<Waited>(output)?.workstreams ?? []) {
      const child = workstreams.find((one) => one.wsId === wsId);
      const lost = messages.find(({ role, text }) => role === 'assistant' && !(child && hasSaid(child, text)));
      if (lost) yield { what: `${wsId} did not say "${lost.text.slice(0, 80)}"`, where: worker.place };
    }
  }
}

interface Waited {
  workstreams?: { ws_id: string; messages?: { role: string; text: string }[] }[];
}

/** Long answers are cut. */
const hasSaid = ({ messages }: WorkstreamOnDisk, text: string): boolean =>
  messages.some(({ message }) => message.role === 'assistant' && message.content.startsWith(text.slice(0, SURE_CHARS)));

const SURE_CHARS = 60;

function read<T>(text: string): T | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a model may send anything, and results may be sentences
  }
}
