import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import { CHILD_WORDS, type Child, type Children, toChildCounts } from '../../state/coordinators/children.ts';
import { CoordinatorBoard } from '../../state/coordinators/coordinator-board.ts';
import type { Tab } from '../../state/tab.ts';
import styles from '../../styles/coordinator.css?inline';
import { Icon } from '../icons.tsx';
import { adoptStyles } from '../parts/adopt-styles.ts';
import { ReadingNotice } from '../reading-notice.tsx';
import { CoordinatorActions } from './coordinator-actions.tsx';

adoptStyles(styles);

interface CoordinatorPanelProps {
  app: App;
  desk: Desk;
  tab: Tab;
  workers: Children;
}

/** What works for a coordinator, above its composer, with what can be done with all of it. */
export function CoordinatorPanel({ app, desk, tab, workers }: CoordinatorPanelProps) {
  const board = useMemo(() => new CoordinatorBoard(desk.client, tab), [desk, tab]);
  const isOpen = useSignal(false);
  const isConnected = desk.client.isOpen.value;
  const { isRead } = workers;
  useEffect(() => {
    if (isConnected && (!isRead || isOpen.value)) void board.read();
  }, [board, isConnected, isRead, isOpen.value]);
  const open = workers.all.filter((child) => child.isOpen).length;
  return (
    <section class="background" aria-label="Coordinator">
      <details
        class="background-item coordinator"
        open={isOpen.value}
        onToggle={({ currentTarget }) => {
          isOpen.value = currentTarget.open;
        }}
      >
        <summary>
          <Icon name="fork" />
          <span>{open === 0 ? 'No workstream works for it' : `${open} workstream${open === 1 ? '' : 's'}`}</span>
          <span class="background-state" role="status">
            {toChildCounts(workers)}
          </span>
        </summary>
        <ReadingNotice of={[board.reading]} />
        <ChildList desk={desk} workers={workers} />
        <TaskList board={board} />
        {app.rights.coordinate.value && <CoordinatorActions app={app} board={board} open={open} />}
      </details>
    </section>
  );
}

/** The open ones first. */
function ChildList({ desk, workers }: { desk: Desk; workers: Children }) {
  const closed = workers.all.filter(({ isOpen }) => !isOpen);
  return (
    <ul class="agent-tree" aria-label="Its workstreams">
      {workers.all
        .filter(({ isOpen }) => isOpen)
        .map((child) => (
          <ChildRow key={child.wsId} desk={desk} child={child} />
        ))}
      {closed.length > 0 && <li class="soft">{`${closed.length} closed: ${closed.map(nameOf).join(', ')}`}</li>}
    </ul>
  );
}

const nameOf = ({ name, wsId }: Child): string => toVisibleLine(name || wsId.slice(0, 8));

const ChildRow = ({ desk, child }: { desk: Desk; child: Child }) => (
  <li>
    <button type="button" class="quiet link" onClick={() => void desk.workstreams.show(child.wsId)}>
      {nameOf(child)}
      <span class="hidden-text">: open the conversation</span>
    </button>{' '}
    <span class={`background-state ${child.state}`}>{CHILD_WORDS[child.state]}</span>
  </li>
);

const TASK_WORDS = {
  pending: 'to do',
  in_progress: 'in progress',
  done: 'done',
  blocked: 'blocked',
  needs_user: 'needs you',
} as const;

/** The list of tasks that its agent keeps. */
function TaskList({ board }: { board: CoordinatorBoard }) {
  const tasks = board.tasks.value;
  if (tasks.length === 0) return null;
  return (
    <>
      <h3 class="coordinator-title">Its tasks</h3>
      <ul class="agent-tree" aria-label="Its tasks">
        {tasks.map(({ id, title, status, note }) => (
          <li key={id}>
            {toVisibleLine(title)} <span class={`background-state ${status}`}>{TASK_WORDS[status]}</span>
            {note !== '' && <span class="account-facts">{` ${toVisibleLine(note)}`}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}
