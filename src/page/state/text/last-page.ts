/** The number of the last page, from 0, of so many things. */
export const lastPage = (total: number, size: number): number => Math.max(0, Math.ceil(total / size) - 1);
