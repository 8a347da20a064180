import { callTools, say } from '../../support/model/scripted-steps.ts';
import type { Feature } from '../kill-feature.ts';

/** A plan that a person has revised once and then approves; the agent lists the folder before and after it. */
export const PLANS: Feature = {
  message: 'plan for',
  answer({ messages }, tag) {
    const isPlanner = String(messages[0]?.content).includes('You are planning now');
    const results = messages.filter(({ role }) => role === 'tool').length;
    if (isPlanner) return results === 0 ? listing('call_explore') : say(toPlan(JSON.stringify(messages)));
    if (results === 0) return callTools({ name: 'plan_agent', id: 'call_plan', arguments: { goal: tag } });
    return results === 1 ? listing('call_after') : say('The plan is done.');
  },
  async decide(client, { approvalId, wsId, items }) {
    const [item] = items;
    if (!item?.plan) return client.call('approval.resolve', { approvalId, approved: true });
    const feedback = item.plan.round === 1 ? 'much smaller' : '';
    // A revision is answered when it is stored; another question follows.
    return client.call('plan.resolve', { wsId, approvalId, feedback });
  },
  findings({ workstream: { approvals, messages } }) {
    const plans = approvals.filter(({ kind }) => kind === 'plan').map(({ status }) => status);
    const results = messages.flatMap(({ message }) => (message.role === 'tool' ? [message] : []));
    const [plan] = results;
    return [
      ...(plans.join() === 'denied,approved' ? [] : [`plans: ${plans.join()}`]),
      ...(results.map(({ outcome }) => outcome).join() === 'done,done' ? [] : [`${results.length} results`]),
      ...(plan?.output.includes('much smaller') ? [] : ['the agent got another plan than the revised one']),
    ];
  },
};

const listing = (id: string) => callTools({ name: 'list_directory', id, arguments: { path: '.' } });

const toPlan = (asked: string): string => {
  const goal = asked.includes('says:\\nmuch smaller') ? 'It is much smaller.' : 'It is large.';
  return `## Goal\n${goal}\n\n## Current State\nThe folder holds a few files, and none of them is about this.\n\n## Plan\n1. Begin.\n2. End.\n\n## Risks\nNone.`;
};
