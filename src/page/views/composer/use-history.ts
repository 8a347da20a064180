import { useMemo } from 'preact/hooks';
import { isAtEdge, MessageHistory } from '../../state/composer/message-history.ts';
import type { Conversation } from '../../state/conversation/conversation.ts';
import type { Tab } from '../../state/tab.ts';

/** Lets the arrow keys go through the earlier messages of the conversation. Returns whether a key did. */
export function useHistory(tab: Tab, { blocks }: Pick<Conversation, 'blocks'>): (event: KeyboardEvent) => boolean {
  const history = useMemo(() => new MessageHistory(), [tab]);
  return (event) => {
    const { key, target, altKey, ctrlKey, metaKey, shiftKey, isComposing } = event;
    const by = key === 'ArrowUp' ? -1 : key === 'ArrowDown' ? 1 : undefined;
    const isPlain = !(altKey || ctrlKey || metaKey || shiftKey || isComposing);
    if (by === undefined || !isPlain || !(target instanceof HTMLTextAreaElement) || !isAtEdge(target, by)) return false;
    const asked = blocks.flatMap((block) => (block.kind === 'user' && block.source === 'person' ? [block.text] : []));
    const text = history.step(target.value, asked, by);
    if (text === undefined) return false;
    event.preventDefault();
    tab.draft.value = text;
    return true;
  };
}
