import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { walk } from '../../arrow-keys.ts';
import { Icon, type IconName } from '../../icons.tsx';

interface HeadMenuProps {
  label: string;
  icon: IconName;
  /** Shown next to the icon where there is room. */
  text?: string;
  class?: string;
  /** Whether its items have the roles of a menu. */
  isMenu?: boolean;
  onClose?: () => void;
  /** The items of the list; `close` is for their handlers. */
  children(close: () => void): ComponentChildren;
}

/** A small menu next to the name of a conversation. Escape and leaving it close it. */
export function HeadMenu({ label, icon, text, class: className = '', isMenu, onClose, children }: HeadMenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (menu.current) menu.current.open = false;
  };
  return (
    <details
      class={`head-menu ${className}`}
      ref={menu}
      onToggle={({ currentTarget }) => {
        if (!currentTarget.open) onClose?.();
      }}
      onFocusOut={({ relatedTarget, currentTarget }) => {
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) close();
      }}
      onKeyDown={(event) => {
        walk(event, 'li :is(a, button)');
        if (event.key !== 'Escape' || !menu.current?.open) return;
        event.stopPropagation();
        close();
        menu.current.querySelector('summary')?.focus();
      }}
    >
      <summary class={`quiet ${text === undefined ? 'icon-only' : ''}`} aria-label={label} title={label}>
        <Icon name={icon} />
        {text !== undefined && <span class="head-menu-text">{text}</span>}
      </summary>
      <ul role={isMenu ? 'menu' : undefined}>{children(close)}</ul>
    </details>
  );
}
