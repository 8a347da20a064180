import { createContext } from 'preact';
import { useContext, useState } from 'preact/hooks';
import type { Desk } from '../../state/app.ts';
import type { Tab } from '../../state/tab.ts';

/** What the parts of one conversation need of it, however deep they are. */
export interface ConversationContext {
  wsId: string;
  client: Desk['client'];
  /** What a person opened or chose, by a name: a part that was scrolled away comes back as they left it. */
  remembered: Map<string, boolean>;
}

export const InConversation = createContext<ConversationContext | undefined>(undefined);

export function useConversation(): ConversationContext {
  const context = useContext(InConversation);
  if (!context) throw new Error('outside a conversation');
  return context;
}

/** A choice that outlives the part that shows it; undefined until somebody has chosen. */
export function useRemembered(name: string): [boolean | undefined, (chosen: boolean) => void] {
  const { remembered } = useConversation();
  const [chosen, setChosen] = useState(remembered.get(name));
  return [
    chosen,
    (next) => {
      remembered.set(name, next);
      setChosen(next);
    },
  ];
}

const choices = new WeakMap<Tab, Map<string, boolean>>();

/** What was chosen in a tab, for as long as the page has it. */
export function rememberedOf(tab: Tab): Map<string, boolean> {
  const known = choices.get(tab) ?? new Map<string, boolean>();
  choices.set(tab, known);
  return known;
}
