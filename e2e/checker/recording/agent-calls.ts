import type { ScriptedCall } from '../../support/model/scripted-steps.ts';
import { effectCommand } from './effects-file.ts';

/** Calls that begin work beside the conversation. The tag occurs in one call alone. */
export const taskCall = (tag: string): ScriptedCall => ({
  name: 'task',
  arguments: { title: tag, prompt: `do the part ${tag}`, max_turns: 6 },
});

export const planCall = (tag: string): ScriptedCall => ({ name: 'plan_agent', arguments: { goal: tag } });

/** It fires at the first poll that is not interrupted. */
export const watchCall = (tag: string, file: string): ScriptedCall => ({
  name: 'watch',
  arguments: {
    ...{ action: 'create', name: tag, interval: '10s', max_polls: 2, stop_on: 'exit_code == 0' },
    command: effectCommand({ tag, file, secs: 0 }),
  },
});

export const memoryCall = (tag: string): ScriptedCall => ({
  name: 'memory',
  arguments: { action: 'save', name: tag.replaceAll('-', '_'), content: `content of ${tag}` },
});

/** Whether a plan is asked for. */
export const isForPlan = ({ messages }: { messages: readonly { content: unknown }[] }): boolean =>
  String(messages[0]?.content).includes('You are planning now');

export const PLAN_TEXT =
  '## Goal\nIt.\n\n## Current State\nThe folder holds a few files, and none of them is about this.\n\n## Plan\n1. Begin.\n2. End.\n\n## Risks\nNone.';
