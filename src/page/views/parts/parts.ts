import { LazyPart } from './lazy-part.ts';

// What many people never open. Each is a script of its own (scripts/page/inline-page.js).
export const ACCOUNT = new LazyPart(() => import('../accounts/account-view.tsx'));
export const AGENT = new LazyPart(() => import('../agent-panel/agent-view.tsx'));
export const COORDINATOR = new LazyPart(() => import('../coordinators/coordinator-panel.tsx'));
export const SCHEDULE = new LazyPart(() => import('../cron/cron-view.tsx'));
export const NOTIFY = new LazyPart(() => import('../attention/notify-section.tsx'));
export const FIRST_STEPS = new LazyPart(() => import('../first-run/first-steps.tsx'));
export const NODES = new LazyPart(() => import('../nodes/nodes-view.tsx'));
export const CHANNELS = new LazyPart(() => import('../channels/channels-view.tsx'));
export const DASHBOARD = new LazyPart(() => import('../dashboard/dashboard-view.tsx'));
export const USAGE = new LazyPart(() => import('../usage/usage-view.tsx'));
export const SAVED = new LazyPart(() => import('../dialogs/saved-dialog.tsx'));
export const SHORTCUT_LIST = new LazyPart(() => import('../dialogs/shortcuts-dialog.tsx'));
export const FORMULA = new LazyPart(() => import('../math/formula.tsx'));
export const CHANGES = new LazyPart(() => import('../changes/changes-dialog.tsx'));
export const ASIDE = new LazyPart(() => import('../aside/aside-view.tsx'));
export const OWNER = new LazyPart(() => import('../conversation/head/owner-dialog.tsx'));
export const DIAGRAM = new LazyPart(() => import('../diagram/diagram.tsx'));
export const QUEUE = new LazyPart(() => import('../composer/queue-list.tsx'));
export const SAVED_FILTERS = new LazyPart(() => import('../rail/saved-filter-list.tsx'));
