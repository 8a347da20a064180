import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { type Defect, pickEvent, pickIn, renumber } from './defect.ts';

const ENDS_ONCE = 'a sub-agent ends once';
const PER_CALL = 'a call starts one sub-agent and gets its end';
const FIRST = 'sub-agents end before their run';
const DENSE = 'the messages of a sub-agent have no gaps';

const isEnd = (event: StreamEvent): boolean => event.type === 'sub_agent' && event.state === 'ended';

const pickAgent = (evidence: Parameters<Defect['apply']>[0], random: Parameters<Defect['apply']>[1]) =>
  pickIn(evidence, random, ({ agents }) => agents);

/** Defects of sub-agents. */
export const AGENT_DEFECTS: Defect[] = [
  {
    name: 'a sub-agent works after its end',
    rule: ENDS_ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, isEnd);
      const [index, { event }] = part;
      if (event.type !== 'sub_agent') return;
      const { outcome: _, ended_ms: __, ...rest } = event;
      workstream.events.splice(index + 1, 0, { offset: 0, event: { ...rest, state: 'running' } });
      renumber(workstream.events);
    },
  },
  {
    name: 'a sub-agent ends twice',
    rule: ENDS_ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, isEnd);
      const [index, { event }] = part;
      workstream.events.splice(index + 1, 0, { offset: 0, event });
      renumber(workstream.events);
    },
  },
  {
    name: 'the end of a sub-agent is not told',
    rule: ENDS_ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, isEnd);
      workstream.events.splice(part[0], 1);
      renumber(workstream.events);
    },
  },
  {
    name: 'a sub-agent that has ended is stored as running',
    rule: ENDS_ONCE,
    apply(evidence, random) {
      pickAgent(evidence, random).part.row.is_running = 1;
    },
  },
  {
    name: 'a crash leads to a second sub-agent for the same call',
    rule: PER_CALL,
    apply(evidence, random) {
      const { workstream, part } = pickAgent(evidence, random);
      const twin = structuredClone(part);
      twin.row.agent_id = 'agt_twin';
      workstream.agents.push(twin);
    },
  },
  {
    name: 'a call gets the end of another sub-agent',
    rule: PER_CALL,
    apply(evidence, random) {
      const { workstream, part } = pickAgent(evidence, random);
      const result = workstream.messages.find(
        ({ message }) => message.role === 'tool' && message.callId === part.row.call_id,
      )?.message;
      if (result?.role !== 'tool') throw new Error('the call has no result');
      result.output = result.output.replace(part.row.agent_id, 'agt_other');
    },
  },
  {
    name: 'a sub-agent belongs to no call',
    rule: PER_CALL,
    apply(evidence, random) {
      pickAgent(evidence, random).part.row.call_id = 'call-of-nobody';
    },
  },
  {
    name: 'a sub-agent outlives its run',
    rule: FIRST,
    apply(evidence, random) {
      const { state } = pickAgent(evidence, random).part;
      state.ended_ms = (state.ended_ms ?? 0) + 600_000;
    },
  },
  {
    name: 'a run ends and leaves a sub-agent at work',
    rule: FIRST,
    apply(evidence, random) {
      const { state } = pickAgent(evidence, random).part;
      state.state = 'running';
    },
  },
  {
    name: 'a message of a sub-agent is lost',
    rule: DENSE,
    apply(evidence, random) {
      const { messages } = pickAgent(evidence, random).part;
      messages.splice(random.int(0, messages.length - 2), 1);
    },
  },
  {
    name: 'two messages of a sub-agent have one number',
    rule: DENSE,
    apply(evidence, random) {
      const { messages } = pickAgent(evidence, random).part;
      const last = messages.at(-1);
      if (last) last.seq -= 1;
    },
  },
  {
    name: 'a call of a sub-agent starts twice',
    rule: 'a tool starts once per permission',
    apply(evidence, random) {
      const { journal } = pickAgent(evidence, random).part;
      const start = journal.find(({ kind }) => kind === 'tool_started');
      if (!start) throw new Error('it has started nothing');
      journal.push(start);
    },
  },
  {
    name: 'a call of a sub-agent has no result',
    rule: 'a tool call has one result',
    apply(evidence, random) {
      const { part } = pickAgent(evidence, random);
      part.messages = part.messages.filter(({ message }) => message.role !== 'tool');
    },
  },
];
