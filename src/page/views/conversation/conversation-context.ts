import { createContext } from 'preact';
import { useContext, useState } from 'preact/hooks';
import type { Desk } from '../../state/app.ts';
import type { AsideTarget } from '../../state/aside/aside-target.ts';
import type { Tab } from '../../state/tab.ts';
import type { FileTarget } from '../../state/workspace/file-reference.ts';

/** Values that nested parts of one conversation need. */
export interface ConversationContext {
  wsId: string;
  client: Desk['client'];
  /** Choices of a person by name, so that a part that was scrolled away comes back as it was. */
  remembered: Map<string, boolean>;
  /** The words that a person searches in it, if any; undefined where nobody can search. */
  search: Tab['search'] | undefined;
  /** Shows the end of the conversation, and follows it from now on. */
  goToEnd(): void;
  /** Shows a file of the workstream; undefined for those who may not. */
  openFile: ((target: FileTarget) => void) | undefined;
  /** Shows something beside the conversation; undefined where that would take its own place. */
  openAside: ((target: AsideTarget) => void) | undefined;
}

export const InConversation = createContext<ConversationContext | undefined>(undefined);

export function useConversation(): ConversationContext {
  const context = useContext(InConversation);
  if (!context) throw new Error('outside a conversation');
  return context;
}

/**
 * A choice that survives while its part is not drawn; undefined until a person chooses. Outside of a conversation, as in the
 * inbox, it lasts as long as the part.
 */
export function useRemembered(name: string): [boolean | undefined, (chosen: boolean) => void] {
  const remembered = useContext(InConversation)?.remembered;
  const [chosen, setChosen] = useState(remembered?.get(name));
  return [
    chosen,
    (next) => {
      remembered?.set(name, next);
      setChosen(next);
    },
  ];
}

/** Shows files of a tab, for those who may read them. */
export const fileOpenerOf = ({ aside }: Tab, mayRead: boolean): ConversationContext['openFile'] =>
  mayRead
    ? (target) => {
        aside.value = target;
      }
    : undefined;

/** Shows anything else beside the conversation of a tab. */
export const asideOpenerOf =
  ({ aside }: Tab): ConversationContext['openAside'] =>
  (target) => {
    aside.value = target;
  };

const choices = new WeakMap<Tab, Map<string, boolean>>();

/** The choices made in a tab, kept as long as the tab exists. */
export function rememberedOf(tab: Tab): Map<string, boolean> {
  const known = choices.get(tab) ?? new Map<string, boolean>();
  choices.set(tab, known);
  return known;
}
