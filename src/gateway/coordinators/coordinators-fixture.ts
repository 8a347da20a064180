import assert from 'node:assert/strict';
import type { Message } from '../../agent/message.ts';
import type { ModelRequest } from '../../agent/providers/model.ts';
import { coordinatorTools } from '../../agent/tools/coordinator/coordinator-tools.ts';
import type { Move } from '../testing/puppet-model.ts';
import { type CallAs, turnsUntil, type WholeGatewayOptions, wholeGateway } from '../testing/whole-gateway.ts';

/** The caller that has all rights where authentication is off, which principals of tests do not have afterwards. */
export const LOCAL: CallAs = { id: 'local', source: { kind: 'local' } };

const textOf = (message: Message | undefined): string =>
  message?.role === 'tool' ? message.output : (message?.content ?? '');

/** The first message of a conversation. */
export const taskOf = ({ messages }: ModelRequest): string => textOf(messages.find(({ role }) => role === 'user'));

/** What the latest calls returned, as data. */
const resultsIn = ({ messages }: ModelRequest): unknown[] => {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.slice(last + 1).flatMap((message) => (message.role === 'tool' ? [readData(message.output)] : []));
};

function readData(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The whole gateway with a coordinator, whose turns are scripted apart from those of its children. */
export async function coordinatorGateway(options: WholeGatewayOptions = {}) {
  const gateway = await wholeGateway({ ...options, tools: coordinatorTools() });
  const turns: Move[][] = [];
  /** What the calls of the coordinator returned, turn by turn. */
  const results: unknown[][] = [];
  let work: (request: ModelRequest) => Move[] = (request) => [`did ${taskOf(request)}`];
  gateway.puppet.replies((request) => {
    if (!request.system.includes('You are a coordinator')) return work(request);
    const found = resultsIn(request);
    if (found.length > 0) results.push(found);
    return turns.shift() ?? ['all done'];
  });
  const { wsId } = await gateway.call('workstream.create', { kind: 'coordinator', name: 'lead' }, LOCAL);
  const extra = {
    /** The coordinator. */
    wsId,
    turns,
    results,
    /** What children do. */
    children(next: (request: ModelRequest) => Move[]) {
      work = next;
    },
    /** Has the coordinator make these turns, and answers its questions with yes; resolves when it is idle. */
    async coordinate(...moves: Move[][]): Promise<void> {
      turns.push(...moves);
      await gateway.call('workstream.send', { wsId, message: 'go on' }, LOCAL);
      await extra.answered(wsId);
    },
    /** Approves what a workstream asks, until it is idle. */
    async answered(of: string): Promise<void> {
      await turnsUntil(async () => {
        const { snapshot } = await gateway.call('workstream.get', { wsId: of });
        if (snapshot.workstream.state === 'attention')
          await gateway.call('workstream.approve', { wsId: of, approved: true }, LOCAL);
        const { busy } = gateway.parts.workstreams.find(of, { permissions: new Set(['workstreams.all']) }) ?? {};
        return busy !== true;
      }, 'idle');
    },
    async childrenOf(of = wsId) {
      return (await gateway.call('coordinator.children', { wsId: of }, LOCAL)).items;
    },
    /** The ids of children with these names. */
    async named(...names: string[]): Promise<string[]> {
      const children = await extra.childrenOf();
      return names.map(
        (name) => children.find((child) => child.name === name)?.wsId ?? assert.fail(`no child ${name}`),
      );
    },
    /** The only child. */
    async child() {
      const [only, ...others] = await extra.childrenOf();
      assert.equal(others.length, 0);
      return only ?? assert.fail('no child');
    },
  };
  return Object.assign(gateway, extra);
}
