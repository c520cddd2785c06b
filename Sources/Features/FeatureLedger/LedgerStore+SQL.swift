internal import FeatureModel
internal import Postgres

extension LedgerStore {
    /// Takes the customer's lock; see ``LedgerStore`` for the order of locks. The row as it is after the
    /// wait is what it returns: PostgreSQL reads a row again that changed while its lock was waited for.
    static let lockAccount = SQLStatement(
        "account_lock",
        """
        select state, clock_timestamp() as now from features.accounts
        where environment = $1 and customer_id = $2
        for no key update
        """)

    static let makeAccount = SQLStatement(
        "account_make",
        """
        insert into features.accounts (environment, customer_id, revision, state)
        values ($1, $2, 0, '{"revision":0,"next":1,"holdings":[],"known":[]}')
        on conflict do nothing
        """)

    static let findOperation = SQLStatement(
        "operation_find",
        """
        select fingerprint, receipt from features.operations
        where environment = $1 and customer_id = $2 and operation_id = $3
        """)

    static let insertOperation = SQLStatement(
        "operation_insert",
        """
        insert into features.operations
            (environment, customer_id, operation_id, decided_at, fingerprint, receipt, metadata)
        values ($1, $2, $3, $4, $5, $6::text::json, $7::text::json)
        """)

    /// Locks the transaction's row, after the customer's.
    static let lockPurchase = SQLStatement(
        "purchase_lock",
        """
        select customer_id, signed_at, granted, revoked from features.purchases
        where environment = $1 and transaction_id = $2
        for no key update
        """)

    /// Affects no row when another customer showed the transaction meanwhile.
    static let upsertPurchase = SQLStatement(
        "purchase_upsert",
        """
        insert into features.purchases (environment, transaction_id, customer_id,
            original_transaction_id, store_product_id, product_id, signed_at, granted, payload)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9::text::json)
        on conflict (environment, transaction_id) do update set
            signed_at = excluded.signed_at, granted = features.purchases.granted or excluded.granted,
            product_id = excluded.product_id, payload = excluded.payload
        where features.purchases.customer_id = excluded.customer_id
        """)

    static let markRevoked = SQLStatement(
        "purchase_mark_revoked",
        """
        update features.purchases set revoked = true
        where environment = $1 and customer_id = $2 and transaction_id = $3
        """)

    static let forget = SQLStatement(
        "customer_forget", "select features.forget($1, $2) as deleted", timeout: .seconds(60))
}
