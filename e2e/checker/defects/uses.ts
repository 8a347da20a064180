import { type Defect, pickEvent, pickIn, renumber } from './defect.ts';

const ENDS_ONCE = 'a background command ends once';
const TOLD_ONCE = 'the end of a background command is told once';
const ANSWERS = 'a question gets the answer that was decided';
const PATCHES = 'a patch is applied completely or its outcome is unknown';

const isBackgroundEnd = (event: { type: string; state?: unknown }): boolean =>
  event.type === 'background_command' && event.state === 'ended';

const toolMessagesOf = (tool: string) => (workstream: Parameters<Parameters<typeof pickIn>[2]>[0]) =>
  workstream.messages.flatMap(({ message }) => (message.role === 'tool' && message.name === tool ? [message] : []));

/** Defects of background commands, questions of the agent and patches. */
export const USE_DEFECTS: Defect[] = [
  {
    name: 'a background command runs again after its end',
    rule: ENDS_ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, isBackgroundEnd);
      const [index, { event }] = part;
      if (event.type !== 'background_command') return;
      const { end: _, ...rest } = event;
      workstream.events.splice(index + 1, 0, { offset: 0, event: { ...rest, state: 'running' } });
      renumber(workstream.events);
    },
  },
  {
    name: 'a background command ends in two ways',
    rule: ENDS_ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, isBackgroundEnd);
      const [index, { event }] = part;
      if (event.type !== 'background_command') return;
      workstream.events.splice(index + 1, 0, { offset: 0, event: { ...event, end: 'lost' } });
      renumber(workstream.events);
    },
  },
  {
    name: 'a background command has no end',
    rule: ENDS_ONCE,
    apply(evidence, random) {
      const { workstream } = pickEvent(evidence, random, isBackgroundEnd);
      workstream.events = workstream.events.filter(({ event }) => !isBackgroundEnd(event));
      renumber(workstream.events);
    },
  },
  {
    name: 'the model is told of an end twice',
    rule: TOLD_ONCE,
    apply(evidence, random) {
      const { workstream, part } = pickIn(evidence, random, ({ messages }) =>
        messages.filter(({ message }) => message.role === 'user' && /command bg_.*has ended/.test(message.content)),
      );
      workstream.messages.push({ ...part, seq: workstream.messages.length + 1 });
    },
  },
  {
    name: 'a question gets another answer',
    rule: ANSWERS,
    apply(evidence, random) {
      pickIn(evidence, random, toolMessagesOf('ask_user')).part.output = '{"answer":"red"}';
    },
  },
  {
    name: 'an answer is lost',
    rule: ANSWERS,
    apply(evidence, random) {
      pickIn(evidence, random, toolMessagesOf('ask_user')).part.output = '{"answer":null}';
    },
  },
  {
    name: 'a patch makes one of its files',
    rule: PATCHES,
    apply(evidence, random) {
      const names = evidence.patched ?? [];
      names.splice(names.indexOf(random.pick(names)), 1);
    },
  },
  {
    name: 'a patch that is told as not run has made its files',
    rule: PATCHES,
    apply(evidence, random) {
      const { part } = pickIn(evidence, random, toolMessagesOf('apply_patch'));
      part.outcome = random.pick(['failed', 'denied', 'cancelled'] as const);
    },
  },
];
