import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { App, Desk } from '../../state/app.ts';
import { type AsideTarget, isAboutFiles } from '../../state/aside/aside-target.ts';
import type { TalkBlock } from '../../state/conversation/blocks.ts';
import type { Tab } from '../../state/tab.ts';
import styles from '../../styles/aside.css?inline';
import { asideOpenerOf, fileOpenerOf, InConversation } from '../conversation/conversation-context.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { Icon } from '../icons.tsx';
import { adoptStyles } from '../parts/adopt-styles.ts';
import { FilesView } from '../workspace/files-view.tsx';
import { CommandView } from './command-view.tsx';
import { OutputView } from './output-view.tsx';
import { PlanView } from './plan-view.tsx';
import { SubAgentView } from './sub-agent-view.tsx';

adoptStyles(styles);

/** Views that the conversation uses, too. */
interface Draw {
  block(block: TalkBlock): ComponentChildren;
  markdown(text: string): ComponentChildren;
}

interface AsideProps {
  app: App;
  desk: Desk;
  tab: Tab;
  target: AsideTarget;
  /** What runs changed, which is a part of the page, too. */
  runChanges: ComponentChildren;
  draw: Draw;
  onClose(): void;
}

/** Over everything else. */
export const AsideDialog = (props: AsideProps) => (
  <Dialog title={titleOf(props.target)} onClose={props.onClose}>
    <Aside {...props} />
  </Dialog>
);

/** Beside the conversation. Escape and its close button close it, and the focus returns to what opened it. */
export function AsidePane(props: AsideProps) {
  const titleId = useId();
  const { pane, heading } = useFocus(props.target);
  return (
    <aside
      ref={pane}
      class="aside-pane"
      aria-labelledby={titleId}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return;
        event.preventDefault();
        props.onClose();
      }}
    >
      <header class="aside-head">
        <h2 id={titleId} ref={heading} tabIndex={-1}>
          {titleOf(props.target)}
        </h2>
        <button type="button" class="quiet icon-only" aria-label="Close" title="Close (Esc)" onClick={props.onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="aside-scroll">
        <Aside {...props} />
      </div>
    </aside>
  );
}

/** The title takes the focus whenever something is opened from elsewhere, and gives it back at the end. */
function useFocus(target: AsideTarget) {
  const pane = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const opener = useRef<Element | null>(null);
  useLayoutEffect(() => {
    if (pane.current?.contains(document.activeElement)) return;
    opener.current = document.activeElement;
    heading.current?.focus();
  }, [target]);
  useLayoutEffect(
    () => () => {
      const { current: before } = opener;
      if (before instanceof HTMLElement && before !== document.body && before.checkVisibility()) before.focus();
      else document.getElementById('message')?.focus(); // a long conversation draws only what is near the screen
    },
    [],
  );
  return { pane, heading };
}

/** Whether diffs are shown side by side here: a pane is too narrow for it, unless the person chooses it. */
const NARROW = new Map([['diffs beside each other', false]]);

function Aside({ app, desk, tab, target, runChanges, draw }: AsideProps) {
  const { client } = desk;
  const { wsId } = tab;
  const mayWrite = app.rights.write.value;
  const context = useMemo(
    () => ({
      wsId,
      client,
      remembered: new Map(NARROW),
      search: undefined,
      goToEnd: () => undefined,
      openFile: fileOpenerOf(tab, mayWrite),
      openAside: asideOpenerOf(tab),
    }),
    [wsId, client, tab, mayWrite],
  );
  return (
    <InConversation.Provider value={context}>
      <div class="aside">
        {isAboutFiles(target) ? (
          <FilesView mayWrite={mayWrite} desk={desk} tab={tab} target={target} runChanges={runChanges} />
        ) : (
          <Other app={app} desk={desk} tab={tab} target={target} draw={draw} />
        )}
      </div>
    </InConversation.Provider>
  );
}

function Other({ app, desk, tab, target, draw }: Pick<AsideProps, 'app' | 'desk' | 'tab' | 'target' | 'draw'>) {
  switch (target.view) {
    case 'output':
      return <OutputView key={target.callId} tab={tab} callId={target.callId} />;
    case 'command':
      return <CommandView key={target.commandId} app={app} desk={desk} tab={tab} commandId={target.commandId} />;
    case 'agent':
      return (
        <SubAgentView
          key={JSON.stringify(target)}
          app={app}
          desk={desk}
          tab={tab}
          name={target}
          drawBlock={draw.block}
        />
      );
    case 'plan':
      return <PlanView tab={tab} callId={target.callId} drawMarkdown={draw.markdown} />;
    default:
      return null;
  }
}

const TITLES: Record<AsideTarget['view'], string> = {
  files: 'Files',
  changes: 'Files',
  output: 'Output',
  command: 'Background command',
  agent: 'Sub-agent',
  plan: 'Plan',
};

const titleOf = ({ view }: AsideTarget): string => TITLES[view];
