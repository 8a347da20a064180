import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';

/** A call that asks, for tests. */
export const itemOf = (item: Partial<ApprovalItem> = {}): ApprovalItem => ({
  call_id: 'call_1',
  header: 'bash touch x',
  subject: 'touch x',
  preview: 'touch x',
  func_name: 'bash',
  approval_label: 'bash',
  needs_approval: true,
  error: null,
  ...item,
});
