/** What measures the memory of a server or the growth of work: one at a time, as others that work would be in the figure. */
export const measuringTests = ['test/faults/floods.test.ts', 'test/fuzz/xml-linear.test.ts'];
