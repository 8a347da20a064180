import type { Signal } from '@preact/signals';
import type { App, Desk } from '../../../state/app.ts';
import { isAboutFiles, toggleFiles } from '../../../state/aside/aside-target.ts';
import type { Conversation } from '../../../state/conversation/conversation.ts';
import { type Tab, tabName } from '../../../state/tab.ts';
import { Icon } from '../../icons.tsx';
import type { Overlay } from '../../overlay.ts';
import { RenameField } from '../../rename-field.tsx';
import { STATE_WORDS } from '../../tab-button.tsx';
import { ChangesButton } from './changes-button.tsx';
import { Company } from './company.tsx';
import { ExportMenu } from './export-menu.tsx';
import { ModeMenu } from './mode-menu.tsx';
import { ShareMenu } from './share-menu.tsx';

interface ConversationHeadProps {
  app: App;
  desk: Desk;
  tab: Tab;
  conversation: Conversation;
  overlay: Overlay;
  isRenaming: Signal<boolean>;
}

/** The name, state, model and working directory of the workstream. */
export function ConversationHead({ app, desk, tab, conversation, overlay, isRenaming }: ConversationHeadProps) {
  const { state, model, modelAlias, workdir } = conversation;
  const mayRename = app.rights.write.value;
  const rename = () => {
    isRenaming.value = mayRename;
  };
  return (
    <header class="conversation-head">
      {isRenaming.value ? (
        <RenameField
          name={tabName(tab)}
          save={(changed) => desk.actions.rename(tab, changed)}
          onDone={() => {
            isRenaming.value = false;
          }}
        />
      ) : (
        <h1 dir="auto" onDblClick={rename}>
          {tabName(tab)}
        </h1>
      )}
      <span class={`state-word ${state}`}>{STATE_WORDS[state]}</span>
      {mayRename && !isRenaming.value && (
        <button type="button" class="quiet icon-only head-rename" aria-label="Rename" title="Rename" onClick={rename}>
          <Icon name="pencil" />
        </button>
      )}
      <ModeMenu app={app} desk={desk} tab={tab} conversation={conversation} />
      <ShareMenu app={app} desk={desk} tab={tab} overlay={overlay} />
      <Company app={app} desk={desk} wsId={tab.wsId} />
      {conversation.blocks.length > 0 && <FindButton tab={tab} />}
      {mayRename && <FilesButton tab={tab} />}
      {conversation.blocks.length > 0 && <ChangesButton app={app} desk={desk} tab={tab} overlay={overlay} />}
      {conversation.blocks.length > 0 && <ExportMenu tab={tab} name={tabName(tab)} overlay={overlay} />}
      <span class="facts">
        <ModelChip model={model} alias={modelAlias} />
        <span class="fact path" title={`Working directory ${workdir}`}>
          <Icon name="folder" />
          <bdi>{workdir}</bdi>
        </span>
      </span>
    </header>
  );
}

/** A phone has no room for the button, so the menu beside it has an entry. */
const FindButton = ({ tab }: { tab: Tab }) => (
  <button
    type="button"
    class="quiet icon-only head-changes"
    aria-label="Find in this conversation"
    title="Find in this conversation (Ctrl+F)"
    onClick={() => {
      tab.search.value ??= '';
    }}
  >
    <Icon name="search" />
  </button>
);

/** Opens the files of the workstream, or closes them. */
const FilesButton = ({ tab: { aside } }: { tab: Tab }) => (
  <button
    type="button"
    class="quiet icon-only head-changes"
    aria-label="Files"
    aria-pressed={aside.value !== undefined && isAboutFiles(aside.value)}
    title="Files (Alt+P)"
    onClick={() => {
      toggleFiles(aside);
    }}
  >
    <Icon name="folder" />
  </button>
);

/** The model's own name, or its alias until the model server has reported the name. */
const ModelChip = ({ model, alias }: { model: string; alias: string }) => (
  <span class="fact" title={`Model ${model || 'unknown'}${alias === '' ? '' : `, alias ${alias}`}`}>
    <bdi>{model || alias}</bdi>
  </span>
);
