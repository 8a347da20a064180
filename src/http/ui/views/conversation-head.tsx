import type { Conversation } from '../state/conversation.ts';
import { Icon } from './icons.tsx';
import { STATE_WORDS } from './tab-button.tsx';

/** Which workstream this is, what answers in it, and where its tools work. */
export function ConversationHead({ name, conversation }: { name: string; conversation: Conversation }) {
  const { state, model, modelAlias, workdir } = conversation;
  return (
    <header class="conversation-head">
      <h1>{name}</h1>
      <span class={`state-word ${state}`}>{STATE_WORDS[state]}</span>
      <span class="facts">
        <span class="fact" title={`Model ${model}`}>
          {modelAlias === '' ? model : modelAlias}
        </span>
        <span class="fact path" title={`Working directory ${workdir}`}>
          <Icon name="folder" />
          <bdi>{workdir}</bdi>
        </span>
      </span>
    </header>
  );
}
