// Bounds on what SCIM clients send, beyond those of contract section 8 (src/contract/limits.ts). Each has a test at n and n+1.

/** UTF-16 units of one string value. */
export const stringLengthMax = 1024;
/** UTF-8 bytes of the folded form of an indexed value: what an index row of either database can hold. */
export const indexedBytesMax = 2048;
/** UTF-16 units of one certificate. */
export const binaryLengthMax = 65_536;
/** Elements of one multi-valued attribute of a user. */
export const elementsMax = 100;
/** Operations of one PATCH. */
export const patchOperationsMax = 1000;
/** Names in one `attributes` or `excludedAttributes` parameter. */
export const projectionNamesMax = 200;
