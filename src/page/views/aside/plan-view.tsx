import type { ComponentChildren } from 'preact';
import { findPlan } from '../../state/aside/shown-plan.ts';
import type { Tab } from '../../state/tab.ts';

interface PlanViewProps {
  tab: Tab;
  callId: string;
  drawMarkdown(text: string): ComponentChildren;
}

/** A plan in full width, with its headings and lists. */
export function PlanView({ tab, callId, drawMarkdown }: PlanViewProps) {
  const plan = findPlan(tab.conversation.value?.blocks ?? [], callId);
  if (!plan) return <p class="empty">The plan is not ready yet.</p>;
  return (
    <>
      {plan.isAsked && <p class="soft">It waits for an answer in the conversation.</p>}
      <article class="answer">{drawMarkdown(plan.text)}</article>
    </>
  );
}
