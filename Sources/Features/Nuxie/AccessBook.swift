internal import FeatureModel

/// What is known of the customer's access, who the customer is, and which answers may still change it.
///
/// A value: every change is decided here, without a clock or a network, and read as a snapshot.
struct AccessBook: Sendable {
    /// Handed out when a request is sent, and shown when its answer arrives.
    struct Ticket: Sendable, Hashable {
        let customer: String
        let generation: Int
        /// Requests that were sent later have a higher one.
        let order: Int
        /// How many answers to writes had been taken in.
        let writes: Int
    }

    /// A feature of the customer's own, or of one of the customer's entities.
    struct Place: Sendable, Hashable {
        let feature: String
        let entity: String?
    }

    struct Known: Sendable, Hashable {
        enum Source: Sendable, Hashable {
            case profile
            /// Asked with this amount.
            case check(required: Int)
            case receipt
        }

        let access: FeatureAccess
        let source: Source
        let order: Int
        /// Uptime in milliseconds.
        let asOf: Int64
        /// Milliseconds since 1970; later it may be another answer though nothing happened.
        let validUntil: Int64?
    }

    struct Question: Sendable, Hashable {
        let place: Place
        let required: Int
    }

    private struct Sent: Sendable, Hashable {
        let evidence: Evidence
        /// The order of the answer that confirmed it; a profile asked for later takes its place.
        var confirmedAt: Int?
    }

    private(set) var customer: String
    private(set) var generation: Int
    private var order = 0
    private var writes = 0
    /// By place: the number of the last write.
    private var written: [Place: Int] = [:]
    private var occurred: [Place: Int64] = [:]
    private var known: [Place: Known] = [:]
    /// A wallet's answers, which hold for one amount.
    private var exact: [Question: Known] = [:]
    private var profileOrder = 0
    private(set) var products: [String: Wire.ProfileAnswer.Product] = [:]
    private(set) var isAdmitted = false
    private var sent: [String: Sent] = [:]
    private(set) var snapshot: FeatureSnapshot

    /// The most answers that are kept; beyond it the book is begun anew.
    static let mostKnown = 10_000

    /// Numbers go on from those of an earlier book of the process.
    init(customer: String, generation: Int = 0, revision: Int = 1) {
        self.customer = customer
        self.generation = generation
        snapshot = FeatureSnapshot(
            state: .unknown, all: [:], identityGeneration: generation, revision: revision)
    }

    // MARK: Identity

    /// Another customer is here: nothing that was known holds any more, and no answer that is on its way
    /// will be taken. Verified purchases stay, each for its customer.
    mutating func change(to customer: String) {
        self.customer = customer
        generation += 1
        known = [:]
        exact = [:]
        written = [:]
        occurred = [:]
        isAdmitted = false
        refreshSnapshot()
    }

    mutating func ticket() -> Ticket {
        order += 1
        return Ticket(customer: customer, generation: generation, order: order, writes: writes)
    }

    func isCurrent(_ ticket: Ticket) -> Bool { ticket.generation == generation }

    // MARK: Answers

    /// Takes a profile in. What was written since it was asked for, or asked for later, stays.
    ///
    /// - Parameter profile: nil when it is the one already known.
    /// - Returns: whether it was taken.
    mutating func admit(
        _ profile: Wire.ProfileAnswer?, _ ticket: Ticket, uptime: Int64
    ) -> Bool {
        guard isCurrent(ticket), ticket.order > profileOrder || !isAdmitted else { return false }
        profileOrder = ticket.order
        if let profile {
            products = profile.products
            var fresh: [Place: Known] = [:]
            for (feature, item) in profile.features {
                func note(_ access: FeatureAccess, _ entity: String?) {
                    fresh[Place(feature: feature, entity: entity)] = Known(
                        access: access, source: .profile, order: ticket.order, asOf: uptime,
                        validUntil: item.nextResetAt)
                }
                note(item.access, nil)
                for (entity, access) in item.entities { note(access, entity) }
            }
            let newer = known.filter { !mayReplace($0.key, by: ticket) }
            known = fresh.merging(newer) { _, newer in newer }
            exact = exact.filter { $0.value.order > ticket.order }
        } else {
            for (place, present) in known where mayReplace(place, by: ticket) {
                known[place] = Known(
                    access: present.access, source: present.source, order: ticket.order,
                    asOf: present.source == .profile ? uptime : present.asOf,
                    validUntil: present.validUntil)
            }
        }
        isAdmitted = true
        sent = sent.filter { entry in
            entry.value.confirmedAt.map { $0 >= ticket.order } ?? true
        }
        refreshSnapshot()
        return true
    }

    /// Takes the server's answer to one question in.
    mutating func admit(
        _ check: Wire.Check, to question: Question, _ ticket: Ticket, uptime: Int64
    ) {
        guard isCurrent(ticket), known.count + exact.count < Self.mostKnown else { return }
        let place = question.place
        guard mayReplace(place, by: ticket) else { return }
        let answer = Known(
            access: check.access, source: .check(required: question.required),
            order: ticket.order, asOf: uptime, validUntil: nil)
        if check.wallet == nil {
            known[place] = answer
            exact[question] = nil
        } else {
            exact[question] = answer
        }
        refreshSnapshot()
    }

    /// Takes a receipt in; one that repeats an earlier decision tells what held then, and changes nothing.
    mutating func admit(
        _ receipt: FeatureConsumptionResult, _ ticket: Ticket, uptime: Int64
    ) {
        guard isCurrent(ticket), receipt.customerId == customer, !receipt.idempotentReplay else {
            return
        }
        let place = Place(
            feature: receipt.creditFeatureId ?? receipt.featureId, entity: receipt.entityId)
        // Whatever a wallet was asked before, it holds another balance now.
        exact = [:]
        writes += 1
        written[place] = writes
        if let moment = receipt.occurredAtMs {
            guard moment >= occurred[place] ?? moment else { return }
            occurred[place] = moment
        }
        known[place] = Known(
            access: receipt.access, source: .receipt, order: ticket.order, asOf: uptime,
            validUntil: nil)
        refreshSnapshot()
    }

    /// A read may take the place of what was asked for before it, and of no write that it may not have seen.
    private func mayReplace(_ place: Place, by ticket: Ticket) -> Bool {
        guard written[place] ?? 0 <= ticket.writes else { return false }
        guard let present = known[place] else { return true }
        return present.order < ticket.order
    }

    // MARK: Purchases

    /// A purchase that the device verified.
    mutating func hold(_ evidence: Evidence) {
        sent[evidence.transaction] = Sent(evidence: evidence)
        refreshSnapshot()
    }

    /// The server has it: what it shows is replaced by the first profile that is asked for from now on.
    mutating func confirm(_ transaction: String) {
        guard let present = sent[transaction], present.confirmedAt == nil else { return }
        sent[transaction] = Sent(evidence: present.evidence, confirmedAt: order)
        refreshSnapshot()
    }

    /// It is believed no more.
    mutating func drop(_ transaction: String) {
        sent[transaction] = nil
        refreshSnapshot()
    }

    /// The oldest purchase of the customer's that grants the feature and is not confirmed.
    func unconfirmed(granting feature: String) -> Evidence? {
        sent.values.filter { entry in
            entry.confirmedAt == nil && !entry.evidence.isRevoked
                && entry.evidence.customer == customer
                && grants(of: entry.evidence).contains { $0.feature == feature }
        }.map(\.evidence).min { $0.transaction < $1.transaction }
    }

    /// Notes with each purchase what its product grants, where that was not known.
    ///
    /// - Returns: the purchases that changed.
    mutating func fillGrants() -> [Evidence] {
        var changed: [Evidence] = []
        for (transaction, entry) in sent where entry.evidence.grants.isEmpty {
            guard let grants = products[entry.evidence.storeProduct]?.grants, !grants.isEmpty else {
                continue
            }
            var evidence = entry.evidence
            evidence.grants = grants
            sent[transaction] = Sent(evidence: evidence, confirmedAt: entry.confirmedAt)
            if entry.confirmedAt == nil { changed.append(evidence) }
        }
        return changed
    }

    func evidence(_ transaction: String) -> Evidence? { sent[transaction]?.evidence }

    func isConfirmed(_ transaction: String) -> Bool { sent[transaction]?.confirmedAt != nil }

    private func grants(of evidence: Evidence) -> [Evidence.Grant] {
        evidence.grants.isEmpty
            ? products[evidence.storeProduct]?.grants ?? [] : evidence.grants
    }
}

extension AccessBook {
    /// An answer from what is fresh, if it decides the question.
    ///
    /// - Parameters:
    ///   - lifetime: milliseconds for which an answer is fresh.
    ///   - wallClock: milliseconds since 1970.
    func answer(
        to question: Question, uptime: Int64, lifetime: Int64, wallClock: Int64
    ) -> FeatureAccess? {
        let place = question.place
        func isFresh(_ item: Known) -> Bool {
            uptime - item.asOf < lifetime && item.validUntil.map { wallClock < $0 } ?? true
        }
        if place.entity == nil, let added = overlay.additions[place.feature] {
            // Only access that is not counted: see `overlay`.
            let present = known[place]?.access
            return PurchaseOverlay.shown(added, over: present)
        }
        if let item = exact[question], isFresh(item) { return item.access }
        guard let item = known[place], isFresh(item) else { return nil }
        let access = item.access
        switch access.type {
        case .boolean: return access
        case .metered, .creditSystem:
            if access.unlimited { return access }
            if let balance = access.balance, balance >= question.required {
                return FeatureAccess(
                    allowed: true, unlimited: false, balance: balance, type: access.type)
            }
            // A wallet may cover what the own balance does not: only the server can deny, and what it
            // denies it denies for more, too.
            guard case .check(let asked) = item.source, !access.allowed,
                question.required >= asked
            else { return nil }
            return FeatureAccess(
                allowed: false, unlimited: false, balance: access.balance, type: access.type)
        }
    }

    /// What unconfirmed purchases add: held or unlimited access. Quotas and credits need the server.
    private var overlay: PurchaseOverlay { overlay { $0.isUnlimited || $0.type == "boolean" } }

    private func overlay(_ isIncluded: (Evidence.Grant) -> Bool) -> PurchaseOverlay {
        var descriptors: [String: [PurchaseOverlay.Descriptor]] = [:]
        for (transaction, entry) in sent {
            descriptors[transaction] = grants(of: entry.evidence).filter(isIncluded).map { grant in
                PurchaseOverlay.Descriptor(
                    feature: grant.feature, type: FeatureType(rawValue: grant.type) ?? .metered,
                    isUnlimited: grant.isUnlimited, allowance: grant.allowance)
            }
        }
        return PurchaseOverlay(
            customer: customer,
            evidence: sent.values.map { entry in
                // Confirmed counts as unconfirmed until a profile shows what the server made of it.
                PurchaseOverlay.Evidence(
                    transaction: entry.evidence.transaction, customer: entry.evidence.customer,
                    isSynced: false, isRevoked: entry.evidence.isRevoked)
            }, descriptors: descriptors)
    }

    mutating func refreshSnapshot() {
        var all: [String: FeatureAccess] = [:]
        for (question, item) in exact where question.place.entity == nil && question.required == 1 {
            all[question.place.feature] = item.access
        }
        for (place, item) in known where place.entity == nil {
            all[place.feature] = Self.forOne(item.access)
        }
        all = overlay.widening(all)
        let state: FeatureSnapshot.State =
            !isAdmitted ? .unknown : overlay { _ in true }.additions.isEmpty ? .ready : .reconciling
        let isSame =
            snapshot.identityGeneration == generation && snapshot.state == state
            && snapshot.all == all
        if isSame { return }
        snapshot = FeatureSnapshot(
            state: state, all: all, identityGeneration: generation,
            revision: snapshot.revision + 1)
    }

    /// Access as `all` shows it, for one unit: a question for five may have been denied with two left.
    private static func forOne(_ access: FeatureAccess) -> FeatureAccess {
        guard access.type != .boolean, !access.unlimited, let balance = access.balance, balance > 0
        else { return access }
        return FeatureAccess(
            allowed: true, unlimited: false, balance: balance, type: access.type)
    }
}

extension PurchaseOverlay {
    /// One addition over what the server told.
    fileprivate static func shown(
        _ addition: Addition, over access: FeatureAccess?
    ) -> FeatureAccess {
        FeatureAccess(
            allowed: true, unlimited: addition.isUnlimited,
            balance: nil, type: access.map { $0.allowed ? $0.type : addition.type } ?? addition.type
        )
    }
}
