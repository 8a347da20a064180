import type { App, Desk } from '../../../state/app.ts';
import type { Tab } from '../../../state/tab.ts';
import { Icon } from '../../icons.tsx';
import { type Overlay, useOwnOverlay } from '../../overlay.ts';
import { LazyDialog } from '../../parts/lazy-views.tsx';
import { CHANGES } from '../../parts/parts.ts';

interface ChangesButtonProps {
  app: App;
  desk: Desk;
  tab: Tab;
  overlay: Overlay;
}

/** Opens the dialog about what runs changed on disk. A phone has no room for the button, so the menu beside it has an entry. */
export function ChangesButton({ app, desk, tab, overlay }: ChangesButtonProps) {
  const { isOpen, open, close } = useOwnOverlay(overlay, 'changes');
  return (
    <>
      <button
        type="button"
        class="quiet icon-only head-changes"
        aria-label="Changes on disk"
        title="Changes on disk"
        onClick={open}
      >
        <Icon name="back" />
      </button>
      {isOpen && (
        <LazyDialog part={CHANGES} title="Changes on disk" desk={desk} onClose={close}>
          {({ ChangesDialog }) => <ChangesDialog app={app} desk={desk} tab={tab} onClose={close} />}
        </LazyDialog>
      )}
    </>
  );
}
