internal import JSON
internal import JourneyModel
internal import TimeZones

// Whether operands can ever be of one type. What is not known before a run is not judged: a wrongly
// typed operand makes a condition *unknown* then, never *true*.
enum OperandCheck {
    /// Why a comparison can never be decided, or nil.
    static func complaint(
        _ comparison: Condition.Comparison, _ left: StaticType, _ right: StaticType
    ) -> String? {
        switch comparison {
        case .eq, .neq: return mismatch(left, right)
        case .lt, .lte, .gt, .gte:
            if left == .amount || right == .amount {
                return
                    "An amount is text, and as text \"10.00\" comes before \"9.99\"; compare the "
                    + "whole money with {\"amount\": \"9.99\", \"currency\": \"USD\"}."
            }
            for side in [left, right] where !hasOrder(side) {
                return "\(capitalised(phrase(side))) has no order; use eq, neq or in."
            }
            return mismatch(left, right)
        }
    }

    /// Why the operands of `contains` can never hold one another, or nil.
    static func complaint(containing left: StaticType, _ right: StaticType) -> String? {
        switch left {
        case .any, .type(.array): return nil
        case .text, .amount, .type(.string): return complaint(text: right)
        case .null, .object, .type:
            return "The operator \"contains\" looks into an array or a string, not "
                + "\(phrase(left))."
        }
    }

    /// Why a value is never a string, or nil.
    static func complaint(text type: StaticType) -> String? {
        switch type {
        case .any, .text, .amount, .type(.string): nil
        case .null, .object, .type: "This is a string, not \(phrase(type)); write a text."
        }
    }

    /// Why a value is never an instant, or nil.
    static func complaint(instant type: StaticType) -> String? {
        switch type {
        case .any, .type(.instant): nil
        case .text(let text) where Instant(text) != nil: nil
        case .text, .null, .amount, .object, .type:
            "This is an instant, not \(phrase(type)); \(instantHint)."
        }
    }

    /// Why a value is never of the type that a property is declared with, or nil.
    static func complaint(property declared: Vocabulary.PropertyType, _ type: StaticType) -> String?
    {
        switch (declared, type) {
        case (_, .any), (_, .null): return nil
        case (.instant, _): return complaint(instant: type)
        case (.string, .text), (.string, .amount): return nil
        case (.money, .object(let object)) where isMoney(object): return nil
        case (.money, _), (.string, _), (.number, _), (.boolean, _), (.array, _), (.object, _):
            if kind(type) == declared { return nil }
            return
                "The property is declared as \(WorkflowDefinitions.phrase(declared)), and this is "
                + "\(phrase(type)); change one of them."
        }
    }

    /// Whether literal JSON is a money: a decimal string and a currency.
    static func isMoney(_ object: JSONObject) -> Bool {
        guard object.count == 2, let amount = object["amount"]?.string,
            JSONNumber(literal: amount) != nil, let currency = object["currency"]?.string
        else { return false }
        return currency.utf8.count == 3 && currency.utf8.allSatisfy { (65...90).contains($0) }
    }

    private static let instantHint =
        "write RFC 3339 such as \"2026-11-30T10:00:00Z\", or a pointer to one"
    private static let moneyHint = "write {\"amount\": \"9.99\", \"currency\": \"USD\"}"

    private static func hasOrder(_ type: StaticType) -> Bool {
        switch type {
        case .any, .amount, .text: true
        case .type(let type):
            switch type {
            case .string, .number, .instant, .money: true
            case .boolean, .array, .object: false
            }
        case .object(let object): isMoney(object)
        case .null: false
        }
    }

    private static func mismatch(_ left: StaticType, _ right: StaticType) -> String? {
        switch (left, right) {
        case (.any, _), (_, .any), (.null, _), (_, .null): return nil
        case (.text, .text), (.object, .object): return nil
        case (.text(let text), .type(.instant)), (.type(.instant), .text(let text)):
            return Instant(text) != nil ? nil : sentence(left, right, hint: instantHint)
        case (.object(let object), .type(.money)), (.type(.money), .object(let object)):
            return isMoney(object) ? nil : sentence(left, right, hint: moneyHint)
        default: break
        }
        let (a, b) = (kind(left), kind(right))
        if a == b { return nil }
        let hint: String
        if a == .money || b == .money {
            hint = moneyHint
        } else if a == .instant || b == .instant {
            hint = instantHint
        } else if case .text = left {
            hint = "write it without quotes"
        } else if case .text = right {
            hint = "write it without quotes"
        } else {
            hint = "compare values of one type"
        }
        return sentence(left, right, hint: hint)
    }

    private static func sentence(_ left: StaticType, _ right: StaticType, hint: String) -> String {
        "This compares \(phrase(left)) with \(phrase(right)), which are never equal; \(hint)."
    }

    private static func kind(_ type: StaticType) -> Vocabulary.PropertyType? {
        switch type {
        case .any, .null: nil
        case .type(let type): type
        case .amount, .text: .string
        case .object: .object
        }
    }

    private static func phrase(_ type: StaticType) -> String {
        switch type {
        case .any: "a value"
        case .null: "null"
        case .type(let type): WorkflowDefinitions.phrase(type)
        case .amount: "an amount"
        case .text(let text): "the string \"\(text.prefix(40))\""
        case .object(let object): isMoney(object) ? "a money" : "an object"
        }
    }
}
