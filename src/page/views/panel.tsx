import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Desk } from '../state/app.ts';
import { Icon } from './icons.tsx';

interface PanelProps {
  /** Its CSS class, and the prefix of the classes and ids of its parts. */
  name: string;
  title: string;
  /** Shown next to the title, such as `3 jobs`. */
  count: string;
  /** A button in the head. */
  action?: ComponentChildren;
  desk: Desk;
  children: ComponentChildren;
}

/**
 * Shown instead of a conversation. Escape and its close button return to the conversation. Its title takes the focus.
 */
export function Panel({ name, title, count, action, desk, children }: PanelProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  const leave = () => {
    desk.workstreams.shown.value = 'conversation';
  };
  return (
    <section class={`panel ${name}`} aria-labelledby={`${name}-title`}>
      <header class={`conversation-head panel-head ${name}-head`}>
        <h1 id={`${name}-title`} ref={heading} tabIndex={-1}>
          {title}
        </h1>
        <span class="panel-count">{count}</span>
        {action}
        <button
          type="button"
          class="quiet icon-only panel-leave"
          aria-label="Back to the conversation"
          title="Back to the conversation (Esc)"
          onClick={leave}
        >
          <Icon name="close" />
        </button>
      </header>
      <div class="panel-body">{children}</div>
    </section>
  );
}

/** The count with its noun; empty for zero and while unknown. */
export const toCount = (count: number | undefined, noun: string): string =>
  count === undefined || count === 0 ? '' : `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`;
